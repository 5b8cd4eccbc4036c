import { readdirSync, readFileSync } from "node:fs";
import { Agent, request, type IncomingHttpHeaders } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { expect } from "chai";
import type { Task } from "../../src/domain/task";
import { eventually } from "../support/eventually";
import { example } from "../system/examples";
import { NpmStart } from "../system/npm-start";
import { expectError, type Answer } from "../unit/api/api-under-test";
import { tally } from "./tally";

/** A request as Node's client sends it. */
export interface Sent {
  readonly method: string;
  /** Path and query as they go over the wire. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

/** How much more memory the API may hold after an attack than before, in bytes. */
const mostGrowth = 50 * 2 ** 20;
/** How long an answer that waits for nothing may take where a machine is slow and busy, in milliseconds. */
export const soon = 5000;

/** `npm start` while it is attacked: what is asked of it, and what it holds. */
export class AttackedService {
  readonly port: number;
  private readonly agent: Agent;
  private before = { resident: 0, files: 0 };

  private constructor(
    private readonly deployment: NpmStart,
    /** The authority of its certificate, where it speaks TLS. */
    readonly ca: string | undefined,
  ) {
    const kept = { keepAlive: true, maxSockets: 8 };
    this.agent = ca === undefined ? new Agent(kept) : new TlsAgent({ ...kept, ca });
    this.port = Number(new URL(deployment.apiUrls[0]!).port);
  }

  /** Starts it; `ca` is the authority of its certificate where the variables make it speak TLS. */
  static async start(variables: Readonly<Record<string, string>> = {}, ca?: string): Promise<AttackedService> {
    const deployment = await NpmStart.prepare({ SIMULATOR_HOST_SECONDS: "0.4", ...variables });
    await deployment.start();
    return new AttackedService(deployment, ca);
  }

  /** Uses it until its code is compiled and it holds what it does in normal use, and remembers how much that is. */
  async warmUp(): Promise<void> {
    const largest = this.json("POST", "/codec/encode", JSON.stringify({ payloads: [{ data: "A".repeat(8_000_000) }] }));
    for (let i = 0; i < 100; i++) {
      const usual = Array.from({ length: 5 }, () => this.ask("warming up", this.draft("/v1/upgrades/preview")));
      await Promise.all([...usual, ...(i % 10 === 0 ? [this.ask("warming up", largest)] : [])]);
    }
    this.before = { resident: this.memory("VmRSS"), files: this.openFiles() };
  }

  /** A request that everybody may send: an example as a draft. */
  draft(path: string): Sent {
    return this.json("POST", path, JSON.stringify(example("cluster-draft")));
  }

  /** A request with credentials and a JSON text as its body. */
  json(method: string, path: string, body: string | Buffer): Sent {
    return { method, path, headers: { authorization: "Bearer fuzz", "content-type": "application/json" }, body };
  }

  /** Sends a request, counts it, and asserts that its answer is a success, or the specification's Error and no 5xx. */
  async ask(kind: string, sent: Sent): Promise<Answer> {
    const began = performance.now();
    const answer = await this.send(sent);
    tally.count(kind, answer.status, performance.now() - began);
    expectHarmless(answer, sent.method, `${sent.method} ${sent.path.slice(0, 200)} ${String(sent.body).slice(0, 300)}`);
    return answer;
  }

  private send({ method, path, headers = {}, body }: Sent): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const options = { agent: this.agent, host: "127.0.0.1", port: this.port, method, path };
      const asked = (this.ca === undefined ? request : tlsRequest)({
        ...options,
        headers: { ...headers, ...(body && { "content-length": length(body) }) },
      });
      asked.setTimeout(soon, () => asked.destroy(new Error(`No answer to ${method} ${path} within ${soon} ms`)));
      asked.once("error", reject);
      asked.once("response", (response) => {
        const received: Buffer[] = [];
        response.on("data", (data: Buffer) => received.push(data));
        response.once("error", reject);
        response.once("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: asText(response.headers),
            text: Buffer.concat(received).toString(),
          }),
        );
      });
      asked.end(body);
    });
  }

  /** That it is ready, takes an upgrade, and cancels it. */
  async expectAlive(): Promise<void> {
    const ready = await this.ask("is it alive?", { method: "GET", path: "/health/ready" });
    expect(ready.status, ready.text).to.equal(200);
    await this.cancel((await this.startDraft()).id);
  }

  /** Starts an upgrade that waits for its commit. */
  async startDraft(): Promise<Task> {
    const { status, text } = await this.ask("is it alive?", this.draft("/v1/upgrades"));
    expect(status, text).to.equal(202);
    return JSON.parse(text) as Task;
  }

  /** Cancels an upgrade that has been started. */
  async cancel(id: string): Promise<void> {
    const headers = { authorization: "Bearer fuzz" };
    const { status, text } = await this.ask("is it alive?", { method: "DELETE", path: `/v1/tasks/${id}`, headers });
    expect(status, text).to.equal(200);
  }

  /** That what the API held for its attackers is given back: memory, and the files that connections are. */
  async expectSettled(what: string): Promise<void> {
    const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
    const held = () => ({ growth: this.memory("VmRSS") - this.before.resident, files: this.openFiles() });
    try {
      await eventually(
        async () => {
          // An idle process collects no garbage.
          await Promise.all(Array.from({ length: 5 }, () => this.send({ method: "GET", path: "/v1/clusters" })));
          return held();
        },
        ({ growth, files }) => growth <= mostGrowth && files <= this.before.files + 20,
        45_000,
      );
    } finally {
      const { growth, files } = held();
      tally.note(
        `memory of the API, ${what}: ${mebibytes(this.before.resident)} before, ${mebibytes(growth)} more after, ` +
          `${mebibytes(this.memory("VmHWM"))} at most; open files ${this.before.files} before, ${files} after`,
      );
    }
  }

  /** The lines of the API's log that tell of failures of its own. */
  failures() {
    return this.deployment.log("api").filter(({ level }) => level >= 50);
  }

  /** Whether a request to this path has reached the application. */
  hasServed(path: string): boolean {
    return this.deployment.log("api").some((line) => "path" in line && line.path === path);
  }

  async discard(): Promise<void> {
    this.agent.destroy();
    await this.deployment.discard();
  }

  /** A field of the API's /proc/PID/status in bytes: VmRSS is what it holds, VmHWM the most that it has held. */
  memory(field: "VmRSS" | "VmHWM"): number {
    const [, kibibytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(
      readFileSync(`/proc/${this.processId}/status`, "utf8"),
    )!;
    return Number(kibibytes) * 1024;
  }

  private openFiles(): number {
    return readdirSync(`/proc/${this.processId}/fd`).length;
  }

  get processId(): number {
    return this.deployment.processes().api![0]!;
  }
}

/** A success, a redirection, or the specification's whole Error with the code that it says; no 5xx. */
export function expectHarmless(answer: Answer, method: string, what: string): void {
  expect(answer.status, `${what}: ${answer.text.slice(0, 500)}`).to.be.within(200, 499);
  if (answer.status < 400 || method === "HEAD") return;
  const { errorCode = "" } = JSON.parse(answer.text) as { readonly errorCode?: string };
  expectError(answer, answer.status, errorCode);
  expect(answer.text, what).not.to.match(/\bat .*:\d+:\d+|node_modules/);
}

function length(body: string | Buffer): number {
  return Buffer.byteLength(body);
}

function asText(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
