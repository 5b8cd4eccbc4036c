import { ApplicationFailure, CancelledFailure } from "@temporalio/common";
import type { MockActivityEnvironment } from "@temporalio/testing";
import { expect } from "chai";
import type { PatchQuery, PatchSource } from "../../../activities/activity-dependencies";
import type { ActivityLimits } from "../../../activities/activity-limits";
import type { HostMaintenance } from "../../../activities/clusters/host-maintenance";
import type {
  ActivityProgress,
  ClusterTarget,
  FailureDetails,
  HostName,
  RemediateHostsInput,
  UpgradeActivities,
} from "../../../activities/contract";
import { createActivities } from "../../../activities/create-activities";
import { DriverError } from "../../../activities/drivers/driver-error";
import { type HostResult, type RemediationProgress, stagesOfHost } from "../../../src/domain/task/host-remediation";
import type { ClusterConfig } from "../../../src/simulator/config/simulator-config";
import { type RunningSimulator, startSimulator } from "../../../src/simulator/start-simulator";
import type { LedgerEntry } from "../../../src/simulator/state/ledger-entry";
import { activityEnvironment } from "../../support/activity-environment";
import { defaultActivityLimits } from "../../support/default-limits";
import { ManualClock } from "../../support/manual-clock";

export const oldVersion = "9.0.0-0.24755229";
export const targetVersion = "9.0.1-0.24957456";
export const newVersion = "9.1.0-0.25100000";

/** What the simulated depot offers beside base images. */
export const depotAddOn = { name: "DEL-ESX", version: "902.1-A01" };
export const depotDriver = { name: "bnxt", version: "234.0-1" };
export const depotFirmware = { manager: "com.dell.hsm", package: "PowerEdge-R760", version: "26.01" };

/** Limits under which nothing waits longer than a test may take; outages and stalls are still far off. */
export const quickLimits: ActivityLimits = {
  ...defaultActivityLimits,
  callTimeout: 5_000,
  poll: { min: 20, max: 100 },
};

export interface SimulatedHost {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly connection: string;
  readonly maintenance: string;
  readonly poweredOnVms: number;
  readonly poweredOffVms: number;
  readonly suspendedVms: number;
  readonly suspendedToMemoryVms?: number;
  readonly extras?: object;
}

interface SimulatedState {
  readonly id: string;
  readonly policy: unknown;
  readonly admissionControl: boolean;
  readonly dpm: boolean;
  readonly desiredImage: { readonly version: string; readonly commit: string; readonly extras?: object };
  readonly drafts: readonly unknown[];
  readonly runningTasks: readonly { readonly id: string; readonly kind: string }[];
  readonly hosts: readonly SimulatedHost[];
}

/** A simulator with one cluster of two hosts, the faults of its control API, and Activities that work on it. */
export interface SimulatedCluster {
  readonly url: string;
  readonly target: ClusterTarget;
  activities(limits?: Partial<ActivityLimits>, url?: string): UpgradeActivities;
  fault(request: Readonly<Record<string, unknown>>): Promise<void>;
  /** Whether one that acts so many times has begun to act for the last time. */
  isUsedUp(kind: string): Promise<boolean>;
  repair(): Promise<void>;
  state(): Promise<SimulatedState>;
  /** Maintenance mode by the simulator's control API; a test may replace its methods. */
  readonly maintenance: { -readonly [M in keyof HostMaintenance]: HostMaintenance[M] };
  /** Puts a host into maintenance mode, or takes it out, by hand. */
  put(host: string, mode: "IN" | "OUT"): Promise<void>;
  /** Adds a host to the cluster, or takes one out of it and of the inventory. */
  join(name: string): Promise<SimulatedHost>;
  leave(host: string): Promise<void>;
  ledger(filter?: string): Promise<LedgerEntry[]>;
  /** The steps of the ledger, in their order. */
  steps(filter?: string): Promise<string[]>;
  hostSeconds(seconds: number): Promise<void>;
  /** Of the simulator and of the Activities; passes only where they wait. */
  readonly clock: ManualClock;
  close(): Promise<void>;
}

/** Only the ISO `iso-1` brings it, from a place of its own. */
export const isoVersion = "9.0.1-0.24990000";
const isoUrl = "http://isos.example.com/iso-1/metadata.zip";

/** The patches of the simulator's depot, and the one ISO `iso-1`, which the inventory has for every version. */
function patchFor(_id: string, { version, customIsoId }: PatchQuery): PatchSource | undefined {
  if (customIsoId !== undefined) return customIsoId === "iso-1" ? { version, metadataUrls: [isoUrl] } : undefined;
  const isKnown = [oldVersion, targetVersion, newVersion].includes(version);
  return isKnown ? { version, metadataUrls: [`http://depot.example.com/hostos/${version}/metadata.zip`] } : undefined;
}

/**
 * `more` are further fields of the cluster's configuration. With a clock what the Activities wait passes for the simulator as
 * well, at the pace of production.
 */
export async function simulateCluster(
  management: "IMAGE" | "BASELINE" = "IMAGE",
  more: Partial<ClusterConfig> = {},
  ownClock?: ManualClock,
): Promise<SimulatedCluster> {
  const clock = ownClock ?? new ManualClock();
  const simulator: RunningSimulator = await startSimulator({
    host: "127.0.0.1",
    port: 0,
    hostSeconds: 0.2,
    log: () => undefined,
    now: clock.timeOfDay,
    config: {
      depot: [
        { version: oldVersion },
        { version: targetVersion, livePatchFrom: [oldVersion] },
        { version: newVersion },
        { version: isoVersion, metadataUrl: isoUrl },
      ],
      addOns: [depotAddOn],
      components: [depotDriver, { ...depotDriver, version: "233.0-1" }],
      hardwareSupport: [depotFirmware],
      hostVersion: oldVersion,
      clusters: [
        {
          id: "domain-c8",
          name: "cluster-01",
          hosts: 2,
          hostNames: "esx-{nn}.example.com",
          management,
          dpm: management === "IMAGE",
          ...more,
        },
        { id: "domain-c9", name: "cluster-02", hosts: 2, hostNames: "other-{nn}.example.com" },
      ],
    },
  });

  async function control<A>(method: string, path: string, body?: unknown): Promise<A> {
    const response = await fetch(`${simulator.url}/simulator/${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as A;
  }

  async function readState(): Promise<SimulatedState> {
    const { clusters } = await control<{ clusters: SimulatedState[] }>("GET", "state");
    const cluster = clusters.find(({ id }) => id === "domain-c8");
    if (!cluster) throw new Error("the simulator has lost its cluster");
    return cluster;
  }

  async function changeMaintenance(host: string, mode: "IN" | "OUT", code: string): Promise<void> {
    try {
      await control("PATCH", `hosts/${host}`, { maintenance: mode });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new DriverError({ kind: "permanent", code, message, remediation: "" });
    }
  }

  const maintenance: HostMaintenance = {
    enter: (host, _options, retryPolicy) =>
      retryPolicy.retry(() => changeMaintenance(host, "IN", "HOST_MAINTENANCE_MODE_FAILED")),
    exit: (host, retryPolicy) => retryPolicy.retry(() => changeMaintenance(host, "OUT", "COMPONENT_MANAGER_REFUSED")),
    inMaintenance: async () => {
      const { hosts: all } = await readState();
      return new Set(all.filter((host) => host.maintenance !== "OUT").map(({ id }) => id));
    },
    isInMaintenance: async (host) =>
      (await readState()).hosts.some(({ id, maintenance }) => id === host && maintenance !== "OUT"),
  };

  return {
    url: simulator.url,
    clock,
    target: {
      cluster: { resourceId: "c-1", name: "cluster-01", componentManagerId: "vc-01", cluster: "domain-c8" },
      kind: "IMAGE",
      targetVersion,
      places: [{ domain: "fra1" }],
    },
    activities: (limits, url = simulator.url) =>
      createActivities({
        componentManager: (id) => (id === "vc-01" ? { id, url, username: "svc", password: "secret" } : undefined),
        patchFor,
        managementServer: () => undefined,
        readFreezes: () => Promise.resolve([]),
        readHolds: () => Promise.resolve([]),
        openingOf: () => ({ isOpen: true }),
        readLockHolder: (workflowId) => Promise.resolve(workflowId === "cluster/c-1" ? { upgradeId: "upgrade-1" } : {}),
        limits: { ...quickLimits, clock, ...(ownClock && { poll: defaultActivityLimits.poll }), ...limits },
        hostMaintenance: () => maintenance,
      }),
    maintenance,
    put: (host, mode) => control("PATCH", `hosts/${host}`, { maintenance: mode }),
    join: (name) => control("POST", "clusters/domain-c8/hosts", { name }),
    leave: (host) => control("DELETE", `hosts/${host}`),
    ledger: (filter = "cluster=domain-c8") => control("GET", `ledger?${filter}`),
    fault: (request) => control("POST", "faults", request),
    isUsedUp: async (kind) => {
      const faults = await control<readonly { kind: string; remaining?: number }[]>("GET", "faults");
      return faults.some((fault) => fault.kind === kind && fault.remaining === 0);
    },
    repair: () => control("DELETE", "faults"),
    state: readState,
    steps: async (filter = "cluster=domain-c8") =>
      (await control<{ step: string }[]>("GET", `ledger?${filter}`)).map(({ step }) => step),
    hostSeconds: (hostSeconds) => control("PATCH", "settings", { hostSeconds }),
    close: () => simulator.close(),
  };
}

/** What is asked of one host alone. */
export type OneHostInput = Omit<RemediateHostsInput, "hosts"> & { readonly host: HostName };

/** Upgrades one host alone, and gives how it ended well. */
export async function remediateHost(
  { remediateHosts }: Pick<UpgradeActivities, "remediateHosts">,
  { host, ...input }: OneHostInput,
): Promise<HostResult> {
  const result = await remediateHosts({ ...input, hosts: [host] });
  const [upgraded] = result.upgraded;
  if (!upgraded || result.failed.length + result.stopped.length > 0) throw new Error(JSON.stringify(result));
  return upgraded;
}

/** The stages of the first host, each with its status. */
export function stagesIn(progress: RemediationProgress | undefined): string[] {
  if (!progress) return [];
  return stagesOfHost(progress, 0, "", "").map(({ type, status }) => `${type} ${status}`);
}

/** How one run of an Activity ended, and everything that it heartbeat. */
export interface ActivityEnd<A, P = RemediationProgress> {
  readonly result?: A;
  readonly error?: unknown;
  readonly heartbeats: readonly P[];
}

interface Running<A, P> {
  readonly environment: MockActivityEnvironment;
  readonly end: Promise<ActivityEnd<A, P>>;
  /** Resolves with the first heartbeat that fits; rejects where the Activity ends without one. */
  heartbeat(fits: (progress: P) => boolean): Promise<P>;
}

const silent = { log: () => {}, trace: () => {}, debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Which attempt it is, when the first one was scheduled, and the heartbeat details of the one before. */
export interface RunInfo {
  readonly attempt?: number;
  readonly scheduledTimestampMs?: number;
  readonly heartbeatDetails?: unknown;
}

/** Runs an Activity as its Worker would. */
export function startActivity<A, P = RemediationProgress>(
  activity: () => Promise<A>,
  info: RunInfo = {},
): Running<A, P> {
  const environment = activityEnvironment({ startToCloseTimeoutMs: 120_000, ...info }, { logger: silent });
  const heartbeats: P[] = [];
  environment.on("heartbeat", (details: P) => heartbeats.push(details));
  const activityEnd: Promise<A> = environment.run(activity);
  const end = activityEnd.then(
    (result): ActivityEnd<A, P> => ({ result, heartbeats }),
    (error: unknown): ActivityEnd<A, P> => ({ error, heartbeats }),
  );
  return {
    environment,
    end,
    heartbeat: (fits) =>
      new Promise((resolve, reject) => {
        const found = heartbeats.find(fits);
        if (found) return resolve(found);
        environment.on("heartbeat", (details: P) => {
          if (fits(details)) resolve(details);
        });
        void end.then(({ error, result }) => reject(error ?? new Error(`ended before: ${JSON.stringify(result)}`)));
      }),
  };
}

export async function runActivity<A, P = RemediationProgress>(
  activity: () => Promise<A>,
  info: RunInfo = {},
): Promise<ActivityEnd<A, P>> {
  return startActivity<A, P>(activity, info).end;
}

/** The result of an Activity that must succeed. */
export async function succeed<A>(activity: () => Promise<A>): Promise<A> {
  const { result, error } = await runActivity(activity);
  if (error) throw error instanceof Error ? error : new Error(String(error));
  return result as A;
}

type Told<P> = FailureDetails<P extends ActivityProgress ? P : RemediationProgress>;

/** The failure of an Activity that must fail, with its details. */
export function failureOf<P>({ error, result }: ActivityEnd<unknown, P>): ApplicationFailure & { told: Told<P> } {
  if (!(error instanceof ApplicationFailure)) {
    throw new Error(`no ApplicationFailure but ${error instanceof Error ? error.stack : JSON.stringify(result)}`);
  }
  return Object.assign(error, { told: error.details?.[0] as Told<P> });
}

export function expectCancelled({ error }: ActivityEnd<unknown, unknown>): void {
  expect(error).to.be.instanceOf(CancelledFailure);
}
