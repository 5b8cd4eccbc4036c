import { readdirSync, readFileSync } from "node:fs";
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { Task } from "../../../src/domain/spec/task";
import { eventually } from "../../support/eventually";
import { MemoryReports } from "../../support/memory-reports";
import { example } from "../../support/service/examples";
import { NpmStart } from "../../support/service/npm-start";
import { type Answer, expectError } from "../../unit/api/api-under-test";
import { tally } from "./tally";

/** A request as Node's client sends it. */
export interface Sent {
  readonly method: string;
  /** Path and query as they go over the wire. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

/** How much more memory the API may use after an attack than before, without its garbage, in bytes. */
const mostGrowth = 50 * 2 ** 20;
/** The most that it may ever hold, garbage too, in bytes: three quarters of what its container may (deploy/). */
const mostHeld = 768 * 2 ** 20;
/** How long an answer that waits for nothing may take where a machine is slow and busy, in milliseconds. */
export const soon = 30_000;
/** Refusals that tell of the machine rather than of the request: it is sent again, so many times at most. */
const passing: ReadonlySet<unknown> = new Set(["OVERLOADED", "TEMPORAL_UNREACHABLE"]);
const mostRepeats = 10;
/** What only a stack has: a place in a file of code, or of Node itself. */
const stackFrame = /\.[cm]?[jt]s:\d+:\d+|\bat node:|\(node:|node_modules/;

/** `npm start` while it is attacked: what is asked of it, and what it holds. */
export class AttackedService {
  readonly port: number;
  private readonly agent: Agent;
  private before = { used: 0, files: 0 };

  private constructor(
    private readonly deployment: NpmStart,
    private readonly reports: MemoryReports,
    /** The authority of its certificate, where it speaks TLS. */
    readonly ca: string | undefined,
  ) {
    const kept = { keepAlive: true, maxSockets: 8 };
    this.agent = ca === undefined ? new Agent(kept) : new TlsAgent({ ...kept, ca });
    this.port = Number(new URL(deployment.apiUrls[0]!).port);
  }

  /** Starts it; `ca` is the authority of its certificate where the variables make it speak TLS. */
  static async start(variables: Readonly<Record<string, string>> = {}, ca?: string): Promise<AttackedService> {
    const reports = new MemoryReports();
    const deployment = await NpmStart.prepare({ SIMULATOR_HOST_SECONDS: "0.4", ...reports.variables, ...variables });
    await deployment.start();
    return new AttackedService(deployment, reports, ca);
  }

  /** Uses it until its code is compiled and it holds what it does in normal use, and remembers how much that is. */
  async warmUp(): Promise<void> {
    const largest = this.json("POST", "/codec/encode", JSON.stringify({ payloads: [{ data: "A".repeat(8_000_000) }] }));
    for (let i = 0; i < 100; i++) {
      const usual = Array.from({ length: 5 }, () => this.ask("warming up", this.draft("/v1/upgrades/preview")));
      await Promise.all([...usual, ...(i % 10 === 0 ? [this.ask("warming up", largest)] : [])]);
    }
    this.before = { used: await this.usedMemory(), files: this.openFiles() };
  }

  /** A request that everybody may send: an example as a draft. */
  draft(path: string): Sent {
    return this.json("POST", path, JSON.stringify(example("cluster-draft")));
  }

  /** A request with credentials and a JSON text as its body. */
  json(method: string, path: string, body: string | Buffer): Sent {
    return { method, path, headers: { authorization: "Bearer fuzz", "content-type": "application/json" }, body };
  }

  /**
   * Sends a request, counts it, and asserts that its answer is a success, or the specification's Error and no 5xx. What
   * is refused because the machine is busy is sent again: a request whose fault it is is refused each time.
   */
  async ask(kind: string, sent: Sent): Promise<Answer> {
    const what = `${sent.method} ${sent.path.slice(0, 200)} ${String(sent.body).slice(0, 300)}`;
    for (let repeats = 0; ; repeats++) {
      const began = performance.now();
      const answer = await this.send(sent);
      tally.count(kind, answer.status, performance.now() - began);
      if (!isPassing(answer, sent.method) || repeats === mostRepeats) {
        expectHarmless(answer, sent.method, what);
        return answer;
      }
      tally.count("sent again, because the machine was busy", answer.status);
      await pause(Number(answer.headers["retry-after"]) * 1000);
    }
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

  /** That what the API used for its attackers is free again, memory and the files that connections are. */
  async expectSettled(what: string): Promise<void> {
    const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
    const reading = async () => ({ growth: (await this.usedMemory()) - this.before.used, files: this.openFiles() });
    let last = { growth: 0, files: 0 };
    try {
      await eventually(
        async () => (last = await reading()),
        ({ growth, files }) => growth <= mostGrowth && files <= this.before.files + 20,
        90_000,
      );
      expect(this.memory("VmHWM"), "the most memory that it has held").to.be.lessThan(mostHeld);
    } finally {
      tally.note(
        `memory of the API, ${what}: ${mebibytes(this.before.used)} used before, ${mebibytes(last.growth)} more after; ` +
          `with garbage ${mebibytes(this.memory("VmRSS"))} held after, ${mebibytes(this.memory("VmHWM"))} at most; ` +
          `open files ${this.before.files} before, ${last.files} after`,
      );
    }
  }

  /** The lines of the API's log that tell of failures of its own. */
  failures() {
    return this.deployment.log("api").filter((line) => {
      const isOfItself = !("errorCode" in line && passing.has(line.errorCode));
      return line.level >= 50 && isOfItself;
    });
  }

  /** Whether a request to this path has reached the application. */
  hasServed(path: string): boolean {
    return this.deployment.log("api").some((line) => "path" in line && line.path === path);
  }

  async discard(): Promise<void> {
    this.agent.destroy();
    await this.deployment.discard();
    this.reports.remove();
  }

  /** The bytes that the API uses, its garbage left out. */
  private usedMemory(): Promise<number> {
    return this.reports.used(this.processId);
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

/** A success, a redirection, or the specification's whole Error with the code that it says; no 5xx but of load shedding. */
export function expectHarmless(answer: Answer, method: string, what: string): void {
  if (codeOf(answer, method) !== "OVERLOADED")
    expect(answer.status, `${what}: ${answer.text.slice(0, 500)}`).to.be.within(200, 499);
  if (answer.status < 400 || method === "HEAD") return;
  expectError(answer, answer.status, codeOf(answer, method) ?? "");
  expect(answer.text, what).not.to.match(stackFrame);
}

function isPassing(answer: Answer, method: string): boolean {
  return passing.has(codeOf(answer, method));
}

/** The code of an error. */
function codeOf({ status, text }: Answer, method: string): string | undefined {
  if (status < 400 || method === "HEAD") return undefined;
  return (JSON.parse(text) as { readonly errorCode?: string }).errorCode;
}

function length(body: string | Buffer): number {
  return Buffer.byteLength(body);
}

function asText(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
