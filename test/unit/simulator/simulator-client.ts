import * as E from "fp-ts/Either";
import { decodeSimulatorConfig, type SimulatorConfig } from "../../../src/simulator/config/simulator-config";
import { startSimulator, type RunningSimulator } from "../../../src/simulator/start-simulator";
import type { LedgerEntry } from "../../../src/simulator/state/ledger-entry";

/** A clock that stands still until it is moved. */
export class TestClock {
  private at = Date.parse("2026-12-01T09:00:00.000Z");
  readonly now = () => this.at;
  advance(seconds: number): void {
    this.at += seconds * 1000;
  }
}

/** Base images of the test depot, oldest first. */
export const images = ["9.0.0-0.24755229", "9.0.1-0.24957456", "9.0.2-0.25148076"] as const;

/** A configuration by its differences from one image-managed cluster `domain-c8` of three hosts and one baseline cluster. */
export function testConfig(over: object = {}): SimulatorConfig {
  const config = decodeSimulatorConfig({
    depot: images.map((version) => ({ version })),
    hostVersion: images[0],
    clusters: [
      { id: "domain-c8", name: "prod-cl01", hosts: 3, hostNames: "esx-{nn}.example.com", dpm: true },
      { id: "domain-c47", name: "edge-cl01", hosts: 2, management: "BASELINE" },
    ],
    // Long enough that moving the clock ends no session by the way.
    sessions: { idleSeconds: 604_800, absoluteSeconds: 604_800 },
    ...over,
  });
  if (E.isLeft(config)) throw new Error(config.left.join("\n"));
  return config.right;
}

export interface Answer {
  readonly status: number;
  /** Parsed JSON, undefined where the answer had no body. */
  readonly body: unknown;
}

/** What tests read of a task. `R` is the result of its operation. */
export interface TaskInfo<R = ApplyResult> {
  readonly status: string;
  readonly cancelable: boolean;
  readonly progress?: { completed: number; message: { default_message: string } };
  readonly result?: R;
  readonly error?: { error_type: string };
}

export interface ApplyResult {
  readonly status: { status: string };
  readonly successful_hosts: string[];
  readonly failed_hosts: string[];
  readonly skipped_hosts: string[];
  readonly host_status: Record<
    string,
    { status: string; notifications: { errors?: { message: { default_message: string } }[] } }
  >;
}

export interface StateView {
  readonly clusters: {
    id: string;
    admissionControl: boolean;
    dpm: boolean;
    policy: object;
    desiredImage?: { version: string; commit: string };
    runningTasks: { id: string; kind: string }[];
    hosts: {
      id: string;
      name: string;
      version: string;
      connection: string;
      maintenance: string;
      poweredOnVms: number;
      poweredOffVms: number;
      suspendedVms: number;
    }[];
  }[];
}

/** A client of the simulator for tests: logs in once, and speaks both of its APIs. */
export class SimulatorClient {
  private token: string | undefined;
  constructor(readonly url: string) {}

  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(this.token !== undefined && { "vmware-api-session-id": this.token }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
  }

  async login(user = "svc-upgrade"): Promise<Answer> {
    const response = await fetch(`${this.url}/api/session`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`${user}:secret`).toString("base64")}` },
    });
    const body: unknown = await response.json();
    if (response.ok) this.token = String(body);
    return { status: response.status, body };
  }

  /** The same session towards another address. */
  movedTo(url: string): SimulatorClient {
    const moved = new SimulatorClient(url);
    moved.token = this.token;
    return moved;
  }

  logout(): void {
    this.token = undefined;
  }

  /** A call of the settings of cluster `domain-c8`. */
  cluster(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.call(method, `/api/esx/settings/clusters/domain-c8${path}`, body);
  }

  async task<R = ApplyResult>(id: string): Promise<TaskInfo<R>> {
    return (await this.call("GET", `/api/cis/tasks/${id}`)).body as TaskInfo<R>;
  }

  apply(...hosts: string[]): Promise<Answer> {
    return this.cluster("POST", "/software?action=apply&vmw-task=true", { hosts, accept_eula: true });
  }

  /** Begins to make a version the desired image; answers the task, for whose end the caller moves the clock. */
  async commit(version: string): Promise<string> {
    const draft = (await this.cluster("POST", "/software/drafts")).body as string;
    await this.cluster("PUT", `/software/drafts/${draft}/software/base-image`, { version });
    return (await this.cluster("POST", `/software/drafts/${draft}?action=commit&vmw-task=true`, { message: "" }))
      .body as string;
  }

  async state(): Promise<StateView> {
    return (await this.call("GET", "/simulator/state")).body as StateView;
  }

  async clusterState(): Promise<StateView["clusters"][number]> {
    return (await this.state()).clusters.find(({ id }) => id === "domain-c8")!;
  }

  async ledger(): Promise<LedgerEntry[]> {
    return (await this.call("GET", "/simulator/ledger")).body as LedgerEntry[];
  }

  async fault(fault: object): Promise<string> {
    const { status, body } = await this.call("POST", "/simulator/faults", fault);
    if (status !== 201) throw new Error(`fault refused: ${JSON.stringify(body)}`);
    return (body as { id: string }).id;
  }
}

/** A simulator on a free port with a clock that stands still, and a client that is logged in. */
export async function startTestSimulator(
  options: { config?: SimulatorConfig; hostSeconds?: number; stateFile?: string; clock?: TestClock } = {},
): Promise<{ simulator: RunningSimulator; client: SimulatorClient; clock: TestClock; logged: string[] }> {
  const clock = options.clock ?? new TestClock();
  const logged: string[] = [];
  const simulator = await startSimulator({
    host: "127.0.0.1",
    port: 0,
    config: options.config ?? testConfig(),
    hostSeconds: options.hostSeconds ?? 100,
    now: clock.now,
    log: (_fields, message) => logged.push(message),
    ...(options.stateFile !== undefined && { stateFile: options.stateFile }),
  });
  const client = new SimulatorClient(simulator.url);
  await client.login();
  return { simulator, client, clock, logged };
}
