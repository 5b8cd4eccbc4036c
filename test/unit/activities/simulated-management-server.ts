import type { ManagementServerSettings } from "../../../activities/activity-dependencies";
import type { ActivityLimits } from "../../../activities/activity-limits";
import type { MgmtActivities, MgmtMigrationInput, MgmtPrecheckInput } from "../../../activities/contract";
import { createActivities } from "../../../activities/create-activities";
import type { MgmtProgress } from "../../../src/domain/task/mgmt-progress";
import { startSimulator } from "../../../src/simulator/start-simulator";
import type { LedgerEntry } from "../../../src/simulator/state/ledger-entry";
import { askAsSomebodyElse } from "../../support/ask-as-somebody-else";
import { ManualClock } from "../../support/manual-clock";
import { type ActivityEnd, quickLimits, startActivity } from "./simulated-cluster";

export const oldMgmtVersion = "9.0.0.0";
export const mgmtTarget = "9.0.2.0";
export const rootPassword = "Temp0rary!root";

/** What the inventory says of the management server. */
export const mgmtSettings: ManagementServerSettings = {
  dnsServers: ["10.20.30.2"],
  temporaryRootPassword: rootPassword,
  answers: { "vmdir.password": "Sso!secret1" },
};

interface State {
  readonly version: string;
  readonly staged?: { readonly version: string; readonly complete: boolean };
  readonly update?: { readonly kind: string; readonly status: string };
  readonly migration?: { readonly state: string; readonly network?: object };
}

/** A simulator of one management server, the faults of its control API, and Activities that work on it. */
export interface SimulatedManagementServer {
  readonly url: string;
  readonly target: MgmtPrecheckInput & MgmtMigrationInput;
  activities(options?: MgmtActivitiesOptions): MgmtActivities;
  fault(request: Readonly<Record<string, unknown>>): Promise<void>;
  repair(): Promise<void>;
  state(): Promise<State>;
  ledger(): Promise<LedgerEntry[]>;
  /** The steps of the ledger, in their order. */
  steps(): Promise<string[]>;
  hostSeconds(seconds: number): Promise<void>;
  /** A call of the product's API by somebody else. */
  asSomebodyElse(method: string, path: string, body?: unknown): Promise<number>;
  /** Of the simulator and of the Activities; passes only where they wait. */
  readonly clock: ManualClock;
  close(): Promise<void>;
}

interface MgmtActivitiesOptions {
  readonly limits?: Partial<ActivityLimits>;
  readonly url?: string;
  readonly settings?: ManagementServerSettings | undefined;
}

/**
 * With `realTime` it goes by the machine's clock, for Activities of a Worker that do so too. `version` is that of the
 * source.
 */
export async function simulateManagementServer({
  realTime = false,
  version = oldMgmtVersion,
} = {}): Promise<SimulatedManagementServer> {
  const clock = new ManualClock();
  const simulator = await startSimulator({
    host: "127.0.0.1",
    port: 0,
    hostSeconds: 0.15,
    log: () => undefined,
    ...(!realTime && { now: clock.timeOfDay }),
    config: {
      depot: [{ version: "9.0.0-0.1" }],
      hostVersion: "9.0.0-0.1",
      clusters: [{ name: "cluster-01", hosts: 1 }],
      managementServer: { version, usedAddresses: ["10.20.30.99"] },
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

  const ledger = () => control<LedgerEntry[]>("GET", "ledger");
  return {
    url: simulator.url,
    clock,
    target: {
      server: { resourceId: "m-1", name: "fra1-vc01", componentManagerId: "vc-01" },
      targetVersion: mgmtTarget,
      places: [{ domain: "fra1" }],
      mechanism: "InPlace",
      attempts: { maximumAttempts: 3, retryDelay: 0 },
      temporaryNetwork: { mode: "STATIC", ipAddress: "10.20.30.40", prefix: 24, gateway: "10.20.30.1" },
    },
    activities: ({ limits, url = simulator.url, ...options } = {}) =>
      createActivities({
        componentManager: (id) => (id === "vc-01" ? { id, url, username: "svc", password: "secret" } : undefined),
        managementServer: (id) => (id !== "m-1" ? undefined : "settings" in options ? options.settings : mgmtSettings),
        patchFor: () => undefined,
        readFreezes: () => Promise.resolve([]),
        readHolds: () => Promise.resolve([]),
        openingOf: () => ({ isOpen: true }),
        readLockHolder: () => Promise.resolve({}),
        limits: { ...quickLimits, clock, ...limits },
      }),
    fault: (request) => control("POST", "faults", request),
    repair: () => control("DELETE", "faults"),
    state: async () => (await control<{ managementServer: State }>("GET", "state")).managementServer,
    ledger,
    steps: async () => (await ledger()).map(({ step }) => step),
    hostSeconds: (hostSeconds) => control("PATCH", "settings", { hostSeconds }),
    asSomebodyElse: (method, path, body) => askAsSomebodyElse(simulator.url, method, path, body),
    close: () => simulator.close(),
  };
}

type Info = Parameters<typeof startActivity>[1];

/** Starts a step of a management server as its Worker would. */
export const startStep = <A>(activity: () => Promise<A>, info?: Info) => startActivity<A, MgmtProgress>(activity, info);

/** Runs one to its end. */
export const runStep = <A>(activity: () => Promise<A>, info?: Info): Promise<ActivityEnd<A, MgmtProgress>> =>
  startStep(activity, info).end;
