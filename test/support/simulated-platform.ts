import type { TestWorkflowEnvironment } from "@temporalio/testing";
import { isLeft } from "fp-ts/Either";
import pino from "pino";
import type { ActivityLimits } from "../../activities/activity-limits";
import type { ActivityDependencies } from "../../activities/activity-dependencies";
import type { Closures, ReadFreezes } from "../../activities/closure-check";
import { createActivities } from "../../activities/create-activities";
import type { Bundle, BundleComponent } from "../../src/domain/spec/bundle";
import type { SubTask, Task } from "../../src/domain/spec/task";
import { type RunningSimulator, startSimulator } from "../../src/simulator/start-simulator";
import type { LedgerEntry } from "../../src/simulator/state/ledger-entry";
import { temporalUpgradeExecutions } from "../../src/temporal/upgrade-executions";
import { askAsSomebodyElse } from "./ask-as-somebody-else";
import { defaultActivityLimits } from "./default-limits";
import { FakeActivities } from "./fake-activities";
import { clusters, sampleBundle, type SamplePlanOptions } from "./sample-plan";

/** What hosts and the management server run at first. */
export const oldVersions = { host: "9.0.0-0.24755229", mgmt: "9.0.0.0" } as const;
const nsxTarget = "9.0.1.0.24952111";
export const mgmtTarget = "9.0.2.0";

const components = {
  NETVIRT: { id: "netvirt", type: "NETVIRT", toVersion: nsxTarget },
  MGMT: { id: "mgmt", type: "MGMT", toVersion: mgmtTarget },
  HOSTOS: { id: "hostos", type: "HOSTOS", toVersion: "9.0.2-0.25148076" },
} satisfies Record<string, BundleComponent>;

interface SimulatedState {
  readonly managementServer: { readonly version: string; readonly migration?: { readonly state: string } };
  readonly clusters: readonly {
    readonly id: string;
    readonly policy: unknown;
    readonly admissionControl: boolean;
    readonly dpm: boolean;
    readonly drafts: readonly unknown[];
    readonly runningTasks: readonly { readonly kind: string }[];
    readonly hosts: readonly { readonly id: string; readonly version: string; readonly maintenance: string }[];
  }[];
}

/**
 * A simulator with one cluster of three hosts, a NETVIRT instance and a management server, and all that an upgrade of
 * one of them needs on an `UpgradeBench`: real Activities, and a plan of clusters with ids of their own.
 */
export class SimulatedPlatform {
  private constructor(
    private readonly simulator: RunningSimulator,
    private readonly cluster: string,
    private readonly kind: "IMAGE" | "BASELINE",
  ) {}

  static async start(kind: "IMAGE" | "BASELINE" = "IMAGE"): Promise<SimulatedPlatform> {
    const [{ resourceId } = { resourceId: "" }] = clusters(1);
    const simulator = await startSimulator({
      host: "127.0.0.1",
      port: 0,
      hostSeconds: 0.2,
      log: () => undefined,
      config: {
        depot: [{ version: oldVersions.host }, { version: components.HOSTOS.toVersion }],
        hostVersion: oldVersions.host,
        clusters: [
          {
            id: `domain-${resourceId}`,
            name: `${resourceId}-name`,
            hosts: 3,
            hostNames: "esx-{nn}.example.com",
            management: kind,
            dpm: true,
          },
        ],
        managementServer: { usedAddresses: ["10.20.30.99"] },
        nsxManagers: [
          {
            id: "nsx-01",
            version: "9.0.0.0.24733065",
            targetVersion: nsxTarget,
            nodes: 2,
            nodeNames: "nsx-{nn}.example.com",
            edgeClusters: [{ id: "edges", name: "edge-cl01", nodes: 2, nodeNames: "edge-{nn}.example.com" }],
            hostClusters: [{ cluster: `${resourceId}-name`, id: "hosts" }],
          },
        ],
      },
    });
    return new SimulatedPlatform(simulator, resourceId, kind);
  }

  /** The domain of all that is there. */
  get domain(): string {
    return `domain-of-${this.cluster}`;
  }

  /** Resource id of its cluster. */
  get clusterId(): string {
    return this.cluster;
  }

  /** The plan of an upgrade of one product, with what a request says of it. */
  plan(product: keyof typeof components, { spec = {}, ...more }: SimulatedPlan = {}): SamplePlanOptions {
    const bundle: Bundle = { ...sampleBundle, id: `bundle-${product}`, components: [components[product]] };
    const { cluster } = this;
    return {
      bundle,
      resources: [{ resourceId: cluster, ...spec }],
      kinds: [this.kind],
      domain: this.domain,
      installations: {
        netvirt: [
          {
            resourceId: `nsx-${cluster}`,
            name: "nsx-01",
            componentManagerId: "nsx-01",
            domain: this.domain,
            clusters: [cluster],
          },
        ],
        management: [
          {
            resourceId: `vc-${cluster}`,
            name: "vc-01",
            componentManagerId: "vc01",
            clusters: [cluster],
            places: [{ domain: this.domain }],
          },
        ],
        personalities: [],
        isos: [],
      },
      ...more,
    };
  }

  /** The Activities of production, under limits that a test can wait for. */
  activities(
    limits: Partial<ActivityLimits> = {},
    readFreezes: ReadFreezes = () => Promise.resolve([]),
    openingOf: Closures["openingOf"] = () => ({ isOpen: true }),
    holds: Pick<ActivityDependencies, "readHolds" | "listHolds"> = { readHolds: () => Promise.resolve([]) },
  ): FakeActivities {
    const { url } = this.simulator;
    return new FakeActivities(
      createActivities({
        componentManager: (id) => ({
          id,
          url: id === "nsx-01" ? `${url}/nsx/nsx-01` : url,
          username: "svc",
          password: "secret",
        }),
        managementServer: () => ({ dnsServers: ["10.20.30.2"], temporaryRootPassword: "Temp0rary!", answers: {} }),
        patchFor: (_id, { version }) => ({
          version,
          metadataUrls: [`http://depot.example.com/hostos/${version}/metadata.zip`],
        }),
        readFreezes,
        openingOf,
        ...holds,
        readLockHolder: () => Promise.resolve({}),
        limits: { ...defaultActivityLimits, callTimeout: 5_000, poll: { min: 10, max: 50 }, ...limits },
      }),
    );
  }

  fault(request: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.control("POST", "faults", request);
  }

  /** Takes every fault back, which also repairs what they have broken. */
  repair(): Promise<unknown> {
    return this.control("DELETE", "faults");
  }

  put(host: string, maintenance: "IN" | "OUT"): Promise<unknown> {
    return this.control("PATCH", `hosts/${host}`, { maintenance });
  }

  /** How long everything that the simulator does takes, from now on. */
  hostSeconds(hostSeconds: number): Promise<unknown> {
    return this.control("PATCH", "settings", { hostSeconds });
  }

  state(): Promise<SimulatedState> {
    return this.control("GET", "state");
  }

  async steps(): Promise<string[]> {
    return (await this.control<LedgerEntry[]>("GET", "ledger")).map(({ step }) => step);
  }

  /** What an operator does after a switchover that failed. */
  async cancelMigration(): Promise<void> {
    const path = "vcenter/lcm/deployment/migration-upgrade?action=cancel";
    const status = await askAsSomebodyElse(this.simulator.url, "POST", path);
    if (status !== 204) throw new Error(`The migration was not cancelled: ${status}`);
  }

  close(): Promise<void> {
    return this.simulator.close();
  }

  private async control<A>(method: string, path: string, body?: unknown): Promise<A> {
    const response = await fetch(`${this.simulator.url}/simulator/${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as A;
  }
}

/** What a request says beside the product that is upgraded. */
export interface SimulatedPlan extends Pick<SamplePlanOptions, "inputs" | "rollout" | "waits" | "draft"> {
  /** Of the cluster. */
  readonly spec?: Omit<NonNullable<SamplePlanOptions["resources"]>[number], "resourceId">;
}

/** The whole Task as `GET /v1/tasks/{id}` answers it. */
export async function readTask(env: TestWorkflowEnvironment, id: string): Promise<Task> {
  const read = await temporalUpgradeExecutions(env.client, pino({ level: "silent" })).readTask(id)();
  if (isLeft(read)) throw new Error(JSON.stringify(read.left));
  return read.right;
}

/** Every SubTask below a Task or SubTask, parents first. */
export function subTasksOf({ subTasks = [] }: { readonly subTasks?: readonly SubTask[] }): SubTask[] {
  return subTasks.flatMap((one) => [one, ...subTasksOf(one)]);
}
