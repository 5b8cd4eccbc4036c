import { mkdtempSync, readFileSync, rmSync, writeFileSync, cpSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { catalogWithServers } from "../../../support/catalog-with-servers";
import { ProductionDeployment, type ProductionShape } from "../../../support/service/production-deployment";
import { cluster } from "../../../support/service/servers-under-test";
import { ServiceUnderTest } from "../../../support/service/service-under-test";

const config = resolve(__dirname, "../../../../config");

/** Short limits, so that a lost worker is soon replaced. */
const settings = {
  SIMULATOR_HOST_SECONDS: "0.5",
  POLL_MIN_MILLISECONDS: "50",
  POLL_MAX_MILLISECONDS: "500",
  HEARTBEAT_SECONDS: "5",
  COMPONENT_MANAGER_CALL_SECONDS: "2",
};

/** A service with two workers and small fleets: of each change one worker is lost, and the other goes on. */
export class TwoWorkers {
  private constructor(
    readonly service: ServiceUnderTest,
    private readonly folder: string,
  ) {}

  static async start(through?: ProductionShape["through"]): Promise<TwoWorkers> {
    const folder = mkdtempSync(join(tmpdir(), "ums-two-workers-"));
    cpSync(config, folder, { recursive: true });
    const variables = {
      ...settings,
      CATALOG_FILE: catalogWithServers(folder),
      INVENTORY_FILE: changed(folder, "inventory.yaml", takeHostsTogether),
      SIMULATOR_CONFIG: changed(folder, "simulator.yaml", shrink),
    };
    const deployment = await ProductionDeployment.prepare(variables, {
      apis: 1,
      workers: 2,
      ...(through && { through }),
    });
    return new TwoWorkers(await ServiceUnderTest.on(deployment), folder);
  }

  /** Ends whatever a cell that has failed has left, so that the next one begins anew. */
  async clear(): Promise<void> {
    await this.service.withTemporal(async (client) => {
      for await (const { workflowId } of client.workflow.list({ query: `ExecutionStatus = "Running"` }))
        await client.workflow
          .getHandle(workflowId)
          .terminate("its test has failed")
          .catch(() => undefined);
    });
  }

  async discard(): Promise<void> {
    await this.service.discard();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface Cluster {
  readonly resourceId?: string;
  hosts?: number;
  poweredOnVms?: number;
  rollout?: object;
}

function changed(folder: string, name: string, change: (cluster: Cluster) => void): string {
  const file = join(folder, name);
  const content = parse(readFileSync(file, "utf8")) as { clusters: Cluster[] };
  content.clusters.forEach(change);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

function takeHostsTogether(one: Cluster): void {
  if (one.resourceId === cluster("21")) one.rollout = { hostsAtOnce: 2 };
}

function shrink(one: Cluster): void {
  one.hosts = 2;
  one.poweredOnVms = 2;
}
