import type { UpgradeActivities } from "../../activities/contract";
import { createActivities } from "../../activities/create-activities";
import { createVlcmClient } from "../../activities/drivers/vlcm/vlcm-client";
import type { ClusterKind } from "../../src/domain/plan/upgrade-plan";
import type { ClusterConfig } from "../../src/simulator/config/simulator-config";
import { startSimulator } from "../../src/simulator/start-simulator";
import type { LedgerEntry } from "../../src/simulator/state/ledger-entry";
import { leased } from "./activity-environment";
import { defaultActivityLimits } from "./default-limits";
import { FakeActivities } from "./fake-activities";

/** A cluster as the simulator's control API shows it. */
interface SimulatedState {
  readonly id: string;
  readonly policy: unknown;
  readonly admissionControl: boolean;
  readonly dpm: boolean;
  readonly runningTasks: readonly unknown[];
  readonly hosts: readonly {
    readonly id: string;
    readonly version: string;
    readonly maintenance: string;
    readonly poweredOnVms: number;
    readonly poweredOffVms: number;
    readonly suspendedVms: number;
  }[];
}

/** The clusters of an upgrade's plan on a simulator, with the real Activities for the Workflows of a bench. */
export interface ClustersOnSimulator {
  /** The real Activities, with those that a test replaces; `real` are the others. */
  activities(replaced?: (real: UpgradeActivities) => Partial<UpgradeActivities>): FakeActivities;
  /** Configures the remediation policy of an image-managed cluster, as somebody has done before the upgrade. */
  putPolicy(resourceId: string, policy: Readonly<Record<string, unknown>>): Promise<void>;
  state(resourceId: string): Promise<SimulatedState>;
  ledger(): Promise<LedgerEntry[]>;
  fault(request: Readonly<Record<string, unknown>>): Promise<void>;
  /** Takes all faults back. */
  repair(): Promise<void>;
  close(): Promise<void>;
}

/** The simulator's id of the cluster that a sample plan calls `resourceId`. */
export function clusterIdOf(resourceId: string): string {
  return `domain-${resourceId}`;
}

/** Starts a simulator with one cluster for each of the resources, hosts taking `hostSeconds`. */
export async function simulateClusters(
  resources: readonly { readonly resourceId: string; readonly kind: ClusterKind }[],
  more: Partial<ClusterConfig> = {},
  hostSeconds = 0.3,
): Promise<ClustersOnSimulator> {
  const simulator = await startSimulator({
    host: "127.0.0.1",
    port: 0,
    hostSeconds,
    log: () => undefined,
    config: {
      depot: ["9.0.0-0.24755229", "9.0.1-0.24957456", "9.0.2-0.25148076"].map((version) => ({ version })),
      hostVersion: "9.0.0-0.24755229",
      clusters: resources.map(({ resourceId, kind }) => ({
        id: clusterIdOf(resourceId),
        name: `${resourceId}-name`,
        hosts: 2,
        management: kind,
        poweredOnVms: 2,
        ...more,
      })),
    },
  });
  const access = (id: string) => ({ id, url: simulator.url, username: "svc", password: "secret" });
  const limits = { ...defaultActivityLimits, poll: { min: 10, max: 50 } };
  const client = leased(createVlcmClient(access("vc01"), limits));
  const real = createActivities({
    componentManager: access,
    patchFor: (_id, { version }) => ({
      version,
      metadataUrls: [`http://depot.example.com/hostos/${version}/metadata.zip`],
    }),
    managementServer: () => undefined,
    readFreezes: () => Promise.resolve([]),
    readHolds: () => Promise.resolve([]),
    openingOf: () => ({ isOpen: true }),
    readLockHolder: () => Promise.resolve({}),
    limits,
  });
  async function read<A>(path: string): Promise<A> {
    return (await (await fetch(`${simulator.url}/simulator/${path}`)).json()) as A;
  }
  async function change(method: "POST" | "DELETE", fault?: object): Promise<void> {
    const answer = await fetch(`${simulator.url}/simulator/faults`, {
      method,
      ...(fault && { headers: { "content-type": "application/json" }, body: JSON.stringify(fault) }),
    });
    if (!answer.ok) throw new Error(`The simulator refused ${method} of faults: ${await answer.text()}`);
  }
  return {
    activities: (replaced) => new FakeActivities({ ...real, ...replaced?.(real) }),
    putPolicy: (resourceId, policy) => client.putPolicy(clusterIdOf(resourceId), policy),
    state: async (resourceId) => {
      const { clusters } = await read<{ clusters: SimulatedState[] }>("state");
      const found = clusters.find(({ id }) => id === clusterIdOf(resourceId));
      if (!found) throw new Error(`The simulator has no cluster ${resourceId}`);
      return found;
    },
    ledger: () => read("ledger"),
    fault: (request) => change("POST", request),
    repair: () => change("DELETE"),
    close: () => simulator.close(),
  };
}
