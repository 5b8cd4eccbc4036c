import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { catalogWithServers } from "../../support/catalog-with-servers";
import { ConfigWithReceiver } from "../../support/config-with-receiver";
import { WebhookReceiver } from "../../support/webhook-receiver";
import { ProductionDeployment } from "../../support/service/production-deployment";
import { ServiceUnderTest } from "../../support/service/service-under-test";
import type { Proxy, Toxiproxy } from "./toxiproxy";

const secret = `whsec_${Buffer.from("a secret of thirty-two bytes 123").toString("base64")}`;

/** Which of its connections a lane has a proxy of its own in. */
type LaneLink =
  "apiToTemporal" | "workerToTemporal" | "apiToManager" | "workerToManager" | "workerToReceiver" | "clientToApi";

/** What the suite is quick by: limits that strike while a fault lasts. */
const settings = {
  SIMULATOR_HOST_SECONDS: "1.5",
  POLL_MIN_MILLISECONDS: "50",
  POLL_MAX_MILLISECONDS: "500",
  HEARTBEAT_SECONDS: "5",
  ANSWER_SECONDS: "5",
  COMPONENT_MANAGER_CALL_SECONDS: "2",
  COMPONENT_MANAGER_OUTAGE_MINUTES: "1",
  EVENTS_POLL_MILLISECONDS: "250",
};

/**
 * An API process, a worker and a simulator with a proxy before everything that they call, in a namespace of their own:
 * faults of one lane do not reach another.
 */
export class NetworkLane {
  private constructor(
    readonly service: ServiceUnderTest,
    readonly proxies: Readonly<Record<LaneLink, Proxy>>,
    readonly receiver: WebhookReceiver,
    private readonly config: ConfigWithReceiver,
    private readonly folder: string,
  ) {}

  static async start(toxiproxy: Toxiproxy, name: string): Promise<NetworkLane> {
    const folder = mkdtempSync(join(tmpdir(), "ums-network-"));
    const receiver = new WebhookReceiver(secret);
    await receiver.start();
    const before = (link: LaneLink, upstream: string) => toxiproxy.before(`${name}-${link}`, upstream);
    const hooks = new URL(receiver.url);
    const workerToReceiver = await before("workerToReceiver", hooks.host);
    hooks.port = String(workerToReceiver.port);
    const config = new ConfigWithReceiver(secret);
    config.addReceiver(hooks.href);
    const between = async (temporal: string, simulator: number) => ({
      apiToTemporal: await before("apiToTemporal", temporal),
      workerToTemporal: await before("workerToTemporal", temporal),
      apiToManager: await before("apiToManager", `127.0.0.1:${simulator}`),
      workerToManager: await before("workerToManager", `127.0.0.1:${simulator}`),
    });
    let made: Awaited<ReturnType<typeof between>> | undefined;
    const variables = { ...settings, CATALOG_FILE: catalogWithServers(folder), INVENTORY_FILE: config.inventory };
    const deployment = await ProductionDeployment.prepare(variables, {
      apis: 1,
      workers: 1,
      through: async (temporal, simulator) => {
        made = await between(temporal, simulator);
        return {
          api: environment(made.apiToTemporal, made.apiToManager),
          worker: environment(made.workerToTemporal, made.workerToManager),
        };
      },
    });
    if (!made) throw new Error("No proxies were made");
    const service = await ServiceUnderTest.on(deployment);
    const clientToApi = await before("clientToApi", new URL(service.apiUrl).host);
    return new NetworkLane(service, { ...made, workerToReceiver, clientToApi }, receiver, config, folder);
  }

  /** Ends whatever a test that has failed has left, so that the next one begins anew. */
  async clear(): Promise<void> {
    for (const proxy of Object.values(this.proxies)) await proxy.heal();
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
    await this.receiver.stop();
    this.config.discard();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function environment(temporal: Proxy, manager: Proxy): Record<string, string> {
  return { TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`, SIMULATOR_PORT: String(manager.port) };
}
