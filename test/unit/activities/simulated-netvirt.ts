import { ApplicationFailure } from "@temporalio/common";
import type { ActivityLimits } from "../../../activities/activity-limits";
import type { FailureDetails, NetvirtTarget, UpgradeActivities } from "../../../activities/contract";
import { createActivities } from "../../../activities/create-activities";
import type { NetvirtProgress } from "../../../src/domain/task/netvirt-upgrade";
import type { NsxManager } from "../../../src/simulator/nsx/nsx-state";
import { startSimulator } from "../../../src/simulator/start-simulator";
import type { LedgerEntry } from "../../../src/simulator/state/ledger-entry";
import { activityEnvironment } from "../../support/activity-environment";
import { defaultActivityLimits } from "../../support/default-limits";
import { ManualClock } from "../../support/manual-clock";
import type { RunInfo } from "./simulated-cluster";

export const oldVersion = "9.0.0.0.24733065";
export const targetVersion = "9.0.1.0.24952111";

/** Ids of the groups of the simulated manager. */
export const groups = { edge1: "edge-1", edge2: "edge-2", hosts1: "hosts-1", hosts2: "hosts-2" } as const;

/** Limits under which nothing waits longer than a test may take; outages and stalls are still far off. */
export const quickLimits: ActivityLimits = {
  ...defaultActivityLimits,
  callTimeout: 5_000,
  poll: { min: 20, max: 100 },
};

interface ManagerOptions {
  readonly targetVersion?: string;
  readonly edgeParallel?: boolean;
  readonly hosts?: number;
  readonly managers?: number;
}

/** A simulator with one NETVIRT manager (two edge clusters, two host clusters), and Activities that work on it. */
export interface SimulatedNetvirt {
  readonly url: string;
  readonly target: NetvirtTarget;
  activities(limits?: Partial<ActivityLimits>, url?: string, root?: string): UpgradeActivities;
  fault(request: Readonly<Record<string, unknown>>): Promise<{ readonly id: string }>;
  /** How often one that acts so many times is still to act. */
  timesLeft(kind: string): Promise<number | undefined>;
  /** Whether one that acts so many times has begun to act for the last time. */
  isUsedUp(kind: string): Promise<boolean>;
  repair(id?: string): Promise<void>;
  manager(): Promise<NsxManager>;
  ledger(): Promise<LedgerEntry[]>;
  hostSeconds(seconds: number): Promise<void>;
  call(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: unknown }>;
  /** Of the simulator and of the Activities; passes only where they wait. */
  readonly clock: ManualClock;
  close(): Promise<void>;
}

export async function simulateNetvirt(options: ManagerOptions = {}): Promise<SimulatedNetvirt> {
  const { targetVersion: offered = targetVersion, edgeParallel = true, hosts = 2, managers = 3 } = options;
  const clock = new ManualClock();
  const simulator = await startSimulator({
    host: "127.0.0.1",
    port: 0,
    hostSeconds: 0.1,
    log: () => undefined,
    now: clock.timeOfDay,
    config: {
      depot: [{ version: "9.0.0-0.24755229" }],
      hostVersion: "9.0.0-0.24755229",
      clusters: [
        { name: "cluster-01", hosts, hostNames: "esx-{nn}.example.com" },
        { name: "cluster-02", hosts, hostNames: "other-{nn}.example.com" },
      ],
      nsxManagers: [
        {
          id: "nsx-01",
          version: oldVersion,
          targetVersion: offered,
          nodes: managers,
          nodeNames: "nsx-{nn}.example.com",
          edgeClusters: [
            {
              id: groups.edge1,
              name: "edge-cl01",
              nodes: 2,
              nodeNames: "edge-{nn}.example.com",
              parallel: edgeParallel,
            },
            { id: groups.edge2, name: "edge-cl02", nodes: 2, nodeNames: "edge-{nn}.example.com", firstNode: 3 },
          ],
          hostClusters: [
            { cluster: "cluster-01", id: groups.hosts1 },
            { cluster: "cluster-02", id: groups.hosts2 },
          ],
        },
      ],
    },
  });

  async function call(method: string, path: string, body?: unknown) {
    const response = await fetch(`${simulator.url}${path}`, {
      method,
      headers: { "content-type": "application/json", authorization: `Basic ${btoa("svc:secret")}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
  }
  async function control<A>(method: string, path: string, body?: unknown): Promise<A> {
    const answer = await call(method, `/simulator/${path}`, body);
    if (answer.status > 299) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body as A;
  }

  async function timesLeft(kind: string): Promise<number | undefined> {
    const faults = await control<readonly { kind: string; remaining?: number }[]>("GET", "faults");
    return faults.find((fault) => fault.kind === kind)?.remaining;
  }

  return {
    url: simulator.url,
    clock,
    target: {
      netvirt: { resourceId: "n-1", name: "nsx-01", componentManagerId: "nsx-01" },
      targetVersion,
      places: [{ domain: "fra1" }],
      options: { edgeOnly: false },
    },
    activities: (limits, url = simulator.url, root = "/nsx/nsx-01") =>
      createActivities({
        componentManager: (id) =>
          id === "nsx-01" ? { id, url: `${url}${root}`, username: "svc", password: "secret" } : undefined,
        patchFor: () => undefined,
        managementServer: () => undefined,
        readFreezes: () => Promise.resolve([]),
        readHolds: () => Promise.resolve([]),
        openingOf: () => ({ isOpen: true }),
        readLockHolder: () => Promise.resolve({}),
        limits: { ...quickLimits, clock, ...limits },
      }),
    fault: (request) => control("POST", "faults", request),
    timesLeft,
    isUsedUp: async (kind) => (await timesLeft(kind)) === 0,
    repair: (id) => control("DELETE", id === undefined ? "faults" : `faults/${id}`),
    manager: async () => {
      const { nsxManagers } = await control<{ nsxManagers: NsxManager[] }>("GET", "state");
      const [manager] = nsxManagers;
      if (!manager) throw new Error("the simulator has lost its manager");
      return manager;
    },
    ledger: () => control("GET", "ledger"),
    hostSeconds: (hostSeconds) => control("PATCH", "settings", { hostSeconds }),
    call,
    close: () => simulator.close(),
  };
}

/** How one run of `upgradeNetvirtComponent` ended, and everything that it heartbeat. */
export interface ComponentEnd<A> {
  readonly result?: A;
  readonly error?: unknown;
  readonly heartbeats: readonly NetvirtProgress[];
}

const silent = { log: () => {}, trace: () => {}, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Runs an Activity as its Worker would. `until` resolves with the first heartbeat that fits. */
export function start<A>(activity: () => Promise<A>, info: RunInfo = {}) {
  const environment = activityEnvironment({ startToCloseTimeoutMs: 120_000, ...info }, { logger: silent });
  const heartbeats: NetvirtProgress[] = [];
  environment.on("heartbeat", (details: NetvirtProgress) => heartbeats.push(details));
  const running: Promise<A> = environment.run(activity);
  const end = running.then(
    (result): ComponentEnd<A> => ({ result, heartbeats }),
    (error: unknown): ComponentEnd<A> => ({ error, heartbeats }),
  );
  return {
    environment,
    end,
    until: (fits: (progress: NetvirtProgress) => boolean) =>
      new Promise<NetvirtProgress>((resolve, reject) => {
        const found = heartbeats.find(fits);
        if (found) return resolve(found);
        environment.on("heartbeat", (details: NetvirtProgress) => {
          if (fits(details)) resolve(details);
        });
        void end.then(({ error, result }) => reject(error ?? new Error(`ended before: ${JSON.stringify(result)}`)));
      }),
  };
}

/** The failure of an Activity that must have failed, with what it tells. */
export function failureOf({ error, result }: ComponentEnd<unknown>) {
  if (!(error instanceof ApplicationFailure)) {
    throw new Error(`no ApplicationFailure but ${error instanceof Error ? error.stack : JSON.stringify(result)}`);
  }
  const told = error.details?.[0] as FailureDetails<NetvirtProgress>;
  return { type: error.type, nonRetryable: error.nonRetryable, told };
}
