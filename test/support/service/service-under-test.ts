import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import { expect } from "chai";
import { loadPayloadKeys, payloadConversionOf } from "../../../src/commands/payload-keys";
import { projectRoot } from "../../../src/config";
import type { SubTask, Task } from "../../../src/domain/spec/task";
import { commandsDropped } from "../../../workflows/end-guard";
import { unsoundHistories } from "../sound-histories";
import { type Deployment, type LogLine, pause, type ProcessName, type TemporalPlace, until } from "./deployment";
import { NpmStart } from "./npm-start";
import { ProductionDeployment } from "./production-deployment";

export { until } from "./deployment";

const inProduction = process.env["DEPLOYMENT"] === "production";

/** What can be killed of the deployment that is tested, and starts again by itself. */
export const processNames: readonly ProcessName[] = [
  ...(["worker", "api", "simulator", "temporalServer"] as const),
  inProduction ? "postgresql" : "temporal",
];

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

/**
 * The service while a test uses it: requests to its API, its simulator and its Temporal, whatever way it is deployed.
 * DEPLOYMENT=production runs it as several processes on PostgreSQL, else it is `npm start`.
 */
export class ServiceUnderTest {
  private requests = 0;
  /** The bearer token of requests; undefined where any is good for changes, and none is needed to read. */
  token: string | undefined;

  private isStopped = false;

  private constructor(
    private readonly deployment: Deployment,
    /** The keys with which it encrypts payloads, as they are when its histories are read. */
    private readonly payloadKeysFile?: string,
  ) {}

  /** Starts everything and resolves when it is ready. */
  static async start(variables: Readonly<Record<string, string>> = {}): Promise<ServiceUnderTest> {
    const way = inProduction ? ProductionDeployment : NpmStart;
    // A worker that was killed is waited out for as long as a call may take.
    const quick = { SIMULATOR_HOST_SECONDS: "0.4", COMPONENT_MANAGER_CALL_SECONDS: "5" };
    const deployment = await way.prepare({ ...quick, ...variables });
    await deployment.start();
    return new ServiceUnderTest(deployment, variables["PAYLOAD_KEYS_FILE"]);
  }

  /** Starts a deployment that was prepared in a way of its own. */
  static async on(deployment: Deployment): Promise<ServiceUnderTest> {
    await deployment.start();
    return new ServiceUnderTest(deployment);
  }

  /** The API; of several processes each time the next one. */
  get apiUrl(): string {
    const { apiUrls } = this.deployment;
    return apiUrls[this.requests++ % apiUrls.length] ?? "";
  }

  /** Every API process. */
  get apiUrls(): readonly string[] {
    return this.deployment.apiUrls;
  }

  get simulatorUrl(): string {
    return this.deployment.simulatorUrl;
  }

  get temporalUiUrl(): string {
    return this.deployment.temporalUiUrl ?? "";
  }

  get temporalPlace(): TemporalPlace {
    return this.deployment.temporal;
  }

  get printed(): string {
    return this.deployment.printed;
  }

  /** Starts what was stopped, on the same ports and data. */
  async startAgain(): Promise<void> {
    await this.deployment.start();
    this.isStopped = false;
  }

  /** Process ids as they are now. */
  processes(): Partial<Record<ProcessName, readonly number[]>> {
    return this.deployment.processes();
  }

  /** The lines of a role's log. */
  log(role: "api" | "worker"): LogLine[] {
    return this.deployment.log(role);
  }

  /** Sends a signal to every process of this name; gives their process ids. */
  signal(name: ProcessName, signal: NodeJS.Signals): readonly number[] {
    const pids = this.processes()[name] ?? [];
    if (pids.length === 0) throw new Error(`No process ${name}`);
    for (const pid of pids) process.kill(pid, signal);
    return pids;
  }

  /** kill -9 of every process of these names at once, and the wait until as many others have taken their place. */
  async killAndAwaitSuccessor(...names: readonly ProcessName[]): Promise<void> {
    const killed = names.map((name) => ({ name, pids: this.signal(name, "SIGKILL") }));
    for (const { name, pids } of killed)
      await until(`another ${name} runs`, () => {
        const now = this.processes()[name] ?? [];
        return now.length === pids.length && now.every((pid) => !pids.includes(pid));
      });
  }

  /** Ends the service by a signal; resolves with its exit code. */
  stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.isStopped = true;
    return this.deployment.stop(signal);
  }

  /**
   * Stops it and removes its data. Fails where it leaves a history that is not sound, whatever the test was about; a service
   * that the test has stopped cannot be asked.
   */
  async discard(): Promise<void> {
    try {
      if (!this.isStopped) {
        expect(await this.unsoundHistories(), "histories that are not sound").to.deep.equal([]);
        const dropped = this.log("worker").filter(({ msg }) => msg === commandsDropped);
        expect(dropped, "what Workflows asked for after their end").to.deep.equal([]);
      }
    } finally {
      await this.deployment.discard();
    }
  }

  /** The same for a test that breaks histories on purpose. */
  discardUnsound(): Promise<void> {
    return this.deployment.discard();
  }

  /** What {@link unsoundHistories} finds in its namespace. */
  unsoundHistories(): Promise<string[]> {
    const keys = loadPayloadKeys(this.payloadKeysFile);
    const conversion = payloadConversionOf(keys);
    const codePath = join(projectRoot, `dist/workflow-bundle${keys.length > 0 ? "-encrypted" : ""}.js`);
    return this.withTemporal((client) => unsoundHistories(client, { conversion, bundle: { codePath } }), conversion);
  }

  async post<B = unknown>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer<B>> {
    return this.request<B>("POST", path, {
      headers: { authorization: `Bearer ${this.token ?? "test"}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  }

  /** Any other request; without a body none is sent, and no Content-Type. */
  async send<B = unknown>(
    method: "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<B>> {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    return this.request<B>(method, path, {
      headers: { authorization: `Bearer ${this.token ?? "test"}`, ...json, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async get<B = unknown>(path: string): Promise<Answer<B>> {
    return this.request<B>("GET", path, {
      headers: this.token === undefined ? {} : { authorization: `Bearer ${this.token}` },
    });
  }

  private async request<B>(method: string, path: string, init: RequestInit): Promise<Answer<B>> {
    const response = await fetch(this.apiUrl + path, { ...init, method, signal: AbortSignal.timeout(30_000) });
    const body = response.status === 204 ? undefined : await response.json();
    return { status: response.status, headers: response.headers, body: body as B };
  }

  /**
   * Starts an upgrade and gives its initial Task; throws where it is refused. Where something is away for a moment, as
   * on a busy machine, it is asked again with the same Idempotency-Key, as the answer says.
   */
  async startUpgrade(spec: unknown): Promise<Task> {
    const key = { "idempotency-key": randomUUID() };
    const deadline = Date.now() + 30_000;
    for (;;) {
      const { status, body } = await this.send<Task>("POST", "/v1/upgrades", spec, key);
      if (status === 202) return body;
      if ((status !== 424 && status !== 503) || Date.now() > deadline)
        throw new Error(`POST /v1/upgrades answered ${status}: ${JSON.stringify(body)}`);
      await pause();
    }
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
    const { clusters } = await this.simulated<{ clusters: Record<string, unknown>[] }>();
    const found = clusters.find((one) => one["cluster"] === cluster || one["id"] === cluster);
    if (!found) throw new Error(`The simulator has no cluster ${cluster}`);
    return { policy: found["policy"], admissionControl: found["admissionControl"], dpm: found["dpm"] };
  }

  /** The state of the simulator, of which a test looks at some fields. */
  async simulated<S>(): Promise<S> {
    return (await (await fetch(`${this.simulatorUrl}/simulator/state`)).json()) as S;
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
  async withTemporal<A>(work: (client: Client) => Promise<A>, dataConverter: DataConverter = {}): Promise<A> {
    const { address, namespace, tls } = this.deployment.temporal;
    const connection = await Connection.connect({ address, ...(tls && { tls }) });
    try {
      return await work(new Client({ connection, namespace, dataConverter }));
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
