import { expect } from "chai";
import type { ErrorBody } from "../../../src/domain/errors";
import type { Task } from "../../../src/domain/spec/task";
import { until } from "../../support/service/deployment";
import type { Answer, ServiceUnderTest } from "../../support/service/service-under-test";
import { draft } from "./kinds-of-upgrade";

/** What a request that was sent during a fault was answered, and after how long. */
interface Probe {
  readonly what: "POST" | "list" | "task" | "ready" | "live";
  readonly milliseconds: number;
  readonly answer: Answer<ErrorBody>;
}

export interface ProbedFault {
  /** Which dependency is out of reach. */
  readonly code: "TEMPORAL_UNREACHABLE" | "COMPONENT_MANAGER_UNREACHABLE";
  readonly total: boolean;
  /** Longest answer to a POST where nothing comes through, in milliseconds. */
  readonly longestPost: number;
}

/** Longest answers where nothing comes through, in milliseconds, with what a busy machine adds to the limits of the API. */
const bounds = {
  /** A call (3.5 s) for which this read waits, then its own; gRPC keeps each of these limits up to a second late. */
  read: 10_000,
  /** Several calls in a row that are slow, none of them too slow. */
  slow: 20_000,
};

/** Asks everything of the API again and again while a fault lasts, and judges the answers afterwards. */
export class ApiProbes {
  private readonly probes: Probe[] = [];
  private over = false;
  private readonly ended: Promise<unknown>;

  /** `key` is the Idempotency-Key of the POST; `taskId` that of an upgrade which runs. */
  constructor(
    private readonly service: ServiceUnderTest,
    private readonly key: string,
    taskId: string,
    private readonly fault: ProbedFault,
  ) {
    const { service: api } = this;
    this.ended = Promise.all([
      this.again("POST", () => this.post<ErrorBody>()),
      this.again("list", () => api.get("/v1/upgrades")),
      this.again("task", () => api.get(`/v1/tasks/${taskId}`)),
      this.again("ready", () => api.get("/health/ready")),
      this.again("live", () => api.get("/health/live")),
    ]);
    // It is awaited at the end of the fault, and must not be unhandled until then.
    this.ended.catch(() => undefined);
  }

  private post<B>(): Promise<Answer<B>> {
    return this.service.post<B>("/v1/upgrades", draft, { "idempotency-key": this.key });
  }

  private async again(what: Probe["what"], ask: () => Promise<Answer<ErrorBody>>): Promise<void> {
    while (!this.over) {
      const began = Date.now();
      const answer = await ask();
      this.probes.push({ what, milliseconds: Date.now() - began, answer });
    }
  }

  /** Asks no more. */
  stop(): void {
    this.over = true;
  }

  /** The fault is over: what is asked from here on is to be answered as ever. */
  async end(): Promise<void> {
    this.stop();
    await this.ended;
    for (const probe of this.probes) this.judge(probe);
    const { code, total } = this.fault;
    if (total) {
      const refused = (of: Probe["what"]) =>
        this.probes.filter(({ what, answer }) => what === of && answer.status > 400);
      expect(refused("POST").length, "POSTs that were refused").to.be.above(0);
      if (code === "TEMPORAL_UNREACHABLE") expect(refused("ready").length, "times not ready").to.be.above(0);
    }
  }

  /** After the fault: without a restart, and with one upgrade whatever the POSTs before were answered. */
  async recovers(): Promise<void> {
    const { service } = this;
    await until("the API is ready again", async () => (await service.get("/health/ready")).status === 200, 45);
    let again: Answer<Task> | undefined;
    await until("the same POST is accepted", async () => (again = await this.post<Task>()).status === 202, 45);
    const id = again?.body.id ?? "";
    const earlier = this.probes.filter(({ what, answer }) => what === "POST" && answer.status === 202);
    for (const { answer } of earlier) expect(answer.body).to.deep.equal(again?.body);
    await until("the draft is cancelled", async () => {
      await service.send("DELETE", `/v1/tasks/${id}`);
      return (await service.task(id)).status === "Cancelled";
    });
  }

  private judge({ what, milliseconds, answer }: Probe): void {
    const { code, total, longestPost } = this.fault;
    const said = `${what}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)} after ${milliseconds} ms`;
    const longest = what === "POST" ? longestPost : bounds.read;
    expect(milliseconds, said).to.be.lessThan(total ? longest : bounds.slow);
    if (what === "live") expect(answer.status, said).to.equal(200);
    if (answer.status < 300) return;
    const { errorCode, errorType, message, remediationMessage, referenceToken } = answer.body;
    expect([errorCode, errorType], said).to.deep.equal([code, "FAILED_DEPENDENCY"]);
    expect(message.length * (remediationMessage?.length ?? 0), said).to.be.above(0);
    expect(referenceToken, said).to.equal(answer.headers.get("x-request-id"));
    expect(answer.status, said).to.equal({ POST: 424, list: 500, task: 500, ready: 503, live: 200 }[what]);
    if (what === "POST") expect(Number(answer.headers.get("retry-after")), said).to.be.within(1, 60);
  }
}
