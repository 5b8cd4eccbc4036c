import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client, Connection } from "@temporalio/client";
import type { SubTask, Task } from "../../src/domain/task";

const root = resolve(__dirname, "../..");

/** The processes of `npm start`, by the names of `processes.json`. */
export type ProcessName = "supervisor" | "temporal" | "temporalServer" | "simulator" | "worker" | "api";

export interface Answer<B = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: B;
}

export interface LedgerEntry {
  readonly step: string;
  /** RFC 3339. */
  readonly at?: string;
  readonly host?: string;
  readonly cluster?: string;
  readonly detail?: string;
}

/** `npm start` as its own processes, on free ports and with a data directory of its own. */
export class ServiceUnderTest {
  private process: ChildProcess | undefined;
  private output = "";
  private readonly dataDir = mkdtempSync(join(tmpdir(), "ums-system-"));
  private constructor(
    private readonly ports: Readonly<
      Record<"API_PORT" | "TEMPORAL_PORT" | "TEMPORAL_UI_PORT" | "SIMULATOR_PORT", number>
    >,
    private readonly variables: Readonly<Record<string, string>>,
  ) {}

  /** Starts everything and resolves when it has said `ready`. */
  static async start(variables: Readonly<Record<string, string>> = {}): Promise<ServiceUnderTest> {
    const [api, temporal, ui, simulator] = await freePorts(4);
    const service = new ServiceUnderTest(
      { API_PORT: api ?? 0, TEMPORAL_PORT: temporal ?? 0, TEMPORAL_UI_PORT: ui ?? 0, SIMULATOR_PORT: simulator ?? 0 },
      { SIMULATOR_HOST_SECONDS: "0.4", ...variables },
    );
    await service.startAgain();
    return service;
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${this.ports.API_PORT}`;
  }

  get simulatorUrl(): string {
    return `http://127.0.0.1:${this.ports.SIMULATOR_PORT}`;
  }

  get temporalUiUrl(): string {
    return `http://127.0.0.1:${this.ports.TEMPORAL_UI_PORT}`;
  }

  get printed(): string {
    return this.output;
  }

  /** Starts what was stopped, on the same ports and data. */
  async startAgain(): Promise<void> {
    this.output = "";
    const ports = Object.fromEntries(Object.entries(this.ports).map(([name, port]) => [name, String(port)]));
    const child = spawn(process.execPath, ["dist/src/main.js", "start"], {
      cwd: root,
      env: { ...withoutTemporal(process.env), ...ports, ...this.variables, DATA_DIR: this.dataDir },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process = child;
    child.stdout.on("data", (chunk: Buffer) => (this.output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (this.output += chunk.toString()));
    await until("the service is ready", () => {
      if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}:\n${this.output}`);
      return /^ready$/m.test(this.output);
    });
  }

  /** Process ids as they are now. */
  processes(): Partial<Record<ProcessName, number>> {
    return JSON.parse(readFileSync(join(this.dataDir, "processes.json"), "utf8")) as Record<ProcessName, number>;
  }

  /** The lines of the API's log. */
  apiLog(): { readonly msg: string }[] {
    const lines = this.log("api").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as { msg: string });
  }

  /** The log of a process as it is written. */
  log(name: "api" | "worker"): string {
    return readFileSync(join(this.dataDir, `logs/${name}.log`), "utf8");
  }

  /** Sends a signal to one of the processes; gives its process id. */
  signal(name: ProcessName, signal: NodeJS.Signals): number {
    const pid = this.processes()[name];
    if (pid === undefined) throw new Error(`No process ${name}`);
    process.kill(pid, signal);
    return pid;
  }

  /** kill -9, and the wait until another one has taken its place. */
  async killAndAwaitSuccessor(name: ProcessName): Promise<void> {
    const killed = this.signal(name, "SIGKILL");
    await until(`another ${name} runs`, () => {
      const now = this.processes()[name];
      return now !== undefined && now !== killed;
    });
  }

  /** Ends the service by a signal; resolves with its exit code. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    const child = this.process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((done) => child.once("exit", done));
    child.kill(signal);
    return ended;
  }

  /** Stops it and removes its data. */
  async discard(): Promise<void> {
    await this.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  async post<B = unknown>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer<B>> {
    return this.request<B>("POST", path, {
      headers: { authorization: "Bearer test", "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  }

  /** Any other request; without a body none is sent, and no Content-Type. */
  async send<B = unknown>(method: "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<Answer<B>> {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    return this.request<B>(method, path, {
      headers: { authorization: "Bearer test", ...json },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async get<B = unknown>(path: string): Promise<Answer<B>> {
    return this.request<B>("GET", path, {});
  }

  private async request<B>(method: string, path: string, init: RequestInit): Promise<Answer<B>> {
    const response = await fetch(this.apiUrl + path, { ...init, method, signal: AbortSignal.timeout(30_000) });
    return { status: response.status, headers: response.headers, body: (await response.json()) as B };
  }

  /** Starts an upgrade and gives its initial Task; throws where it is refused. */
  async startUpgrade(spec: unknown): Promise<Task> {
    const { status, body } = await this.post<Task>("/v1/upgrades", spec);
    if (status !== 202) throw new Error(`POST /v1/upgrades answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  async task(id: string): Promise<Task> {
    const { status, body } = await this.get<Task>(`/v1/tasks/${id}`);
    if (status !== 200) throw new Error(`GET task answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** The Task as soon as it fulfils a condition. What cannot be read in between (a killed API) is read again. */
  async taskWhen(id: string, what: string, condition: (task: Task) => boolean, seconds = 60): Promise<Task> {
    let seen: Task | undefined;
    const deadline = Date.now() + seconds * 1000;
    for (;;) {
      seen = await this.task(id).catch(() => seen);
      if (seen !== undefined && condition(seen)) return seen;
      if (Date.now() > deadline)
        throw new Error(`After ${seconds} s the Task still not ${what}: ${JSON.stringify(seen)}`);
      await pause();
    }
  }

  async fault(fault: Record<string, unknown>): Promise<void> {
    const response = await fetch(`${this.simulatorUrl}/simulator/faults`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(fault),
    });
    if (!response.ok) throw new Error(`The simulator refused the fault: ${await response.text()}`);
  }

  /** Every cluster as it was at first, no fault, an empty ledger. */
  async resetSimulator(): Promise<void> {
    const response = await fetch(`${this.simulatorUrl}/simulator/reset`, { method: "POST" });
    if (!response.ok) throw new Error(`The simulator was not reset: ${await response.text()}`);
  }

  /** A cluster's remediation policy and its HA and DPM settings, as the component manager has them now. */
  async policy(cluster: string): Promise<unknown> {
    const response = await fetch(`${this.simulatorUrl}/simulator/state`);
    const { clusters } = (await response.json()) as { clusters: Record<string, unknown>[] };
    const found = clusters.find((one) => one["cluster"] === cluster || one["id"] === cluster);
    if (!found) throw new Error(`The simulator has no cluster ${cluster}`);
    return { policy: found["policy"], admissionControl: found["admissionControl"], dpm: found["dpm"] };
  }

  async ledger(): Promise<LedgerEntry[]> {
    const response = await fetch(`${this.simulatorUrl}/simulator/ledger`);
    const body = (await response.json()) as LedgerEntry[] | { entries: LedgerEntry[] };
    return Array.isArray(body) ? body : body.entries;
  }

  /** How often each host's remediation was started. */
  async remediations(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { step, host } of await this.ledger()) {
      if (step === "APPLY_STARTED" && host !== undefined) counts[host] = (counts[host] ?? 0) + 1;
    }
    return counts;
  }

  /** Runs something with a Temporal client, as an operator's `temporal` command would. */
  async withTemporal<A>(work: (client: Client) => Promise<A>): Promise<A> {
    const connection = await Connection.connect({ address: `127.0.0.1:${this.ports.TEMPORAL_PORT}` });
    try {
      return await work(new Client({ connection }));
    } finally {
      await connection.close();
    }
  }

  signalUpgrade(id: string, name: string, payload?: unknown): Promise<void> {
    return this.withTemporal((client) =>
      client.workflow.getHandle(id).signal(name, ...(payload === undefined ? [] : [payload])),
    );
  }
}

/** Waits for a condition, looking again soon; fails with its name after a time. */
export async function until(what: string, condition: () => boolean | Promise<boolean>, seconds = 60): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`After ${seconds} s still not: ${what}`);
    await pause();
  }
}

/** Between two looks at a condition. */
function pause(): Promise<void> {
  return new Promise((resume) => setTimeout(resume, 50));
}

/** The SubTasks of hosts, of all clusters. */
export function hostsOf(task: Task): SubTask[] {
  const all = (parts: readonly SubTask[]): SubTask[] => parts.flatMap((part) => [part, ...all(part.subTasks ?? [])]);
  return all(task.subTasks ?? []).filter(({ type }) => type === "HOST_UPGRADE");
}

/** Whether a process exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function withoutTemporal(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith("TEMPORAL_ADDRESS")));
}

/**
 * Ports that are free now and stay so: below the range from which the system takes the ports of outgoing
 * connections, and no two test processes begin to look at the same place.
 */
async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    nextPort = nextPort >= 31_900 ? 20_000 : nextPort + 1;
    if (await isFree(nextPort)) ports.push(nextPort);
  }
  return ports;
}

let nextPort = 20_000 + ((process.pid * 37) % 11_900);

function isFree(port: number): Promise<boolean> {
  return new Promise((resume) => {
    const server = createServer();
    server.once("error", () => resume(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resume(true)));
  });
}
