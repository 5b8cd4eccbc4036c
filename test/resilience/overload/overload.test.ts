import { randomUUID } from "node:crypto";
import { expect } from "chai";
import * as E from "fp-ts/Either";
import type { ErrorBody } from "../../../src/domain/errors";
import { Task } from "../../../src/domain/spec/task";
import { example } from "../../support/service/examples";
import { ServiceUnderTest, until } from "../../support/service/service-under-test";
import { type Message, quantile, Sender, type TimedAnswer } from "./open-loop";
import { refusalOf } from "./refusal-of";

/** How long the sustainable rate is measured, and how long ten times as much is sent, in milliseconds. */
const times = { measured: 4000, flood: 6000 };
/**
 * How long all but one in a hundred take at most, in milliseconds: the wait for a permit, and then what the `permits` of
 * starts take together (LOAD_WAIT_MILLISECONDS, LOAD_STARTS). A slow machine needs longer for them.
 */
const longestAnswer = { milliseconds: 5000, wait: 2000, permits: 8 };
/** How long operators' commands take at most meanwhile, in milliseconds. */
const longestCommand = 15_000;
/** Requests of one client that sends the next when the one before is answered. */
const atOnce = 4;

describe("ten times as many requests as the service can take", function () {
  this.timeout(300_000);
  let service: ServiceUnderTest;
  let sender: Sender;
  const spec = JSON.stringify(example("cluster-draft"));
  const accepted = new Map<string, string>();
  const refused = new Set<string>();
  /** Given up, and so perhaps started all the same. */
  const open = new Set<string>();

  before(async () => {
    service = await ServiceUnderTest.start({
      SIMULATOR_HOST_SECONDS: "30",
      LOG_LEVEL: "info",
      ...JSON.parse(process.env["XVARS"] ?? "{}"),
    });
    sender = new Sender(service.apiUrls[0] ?? "");
  });

  after(async () => {
    sender.close();
    await service.discard();
  });

  const start = (key: string = randomUUID()): Message => ({
    method: "POST",
    path: "/v1/upgrades",
    headers: { "idempotency-key": key },
    body: spec,
  });

  /** Remembers what was answered to a start; fails on whatever is neither a 202 nor a refusal that says what to do. */
  function note({ headers }: Message, answer: TimedAnswer): void {
    const key = headers?.["idempotency-key"] ?? "";
    if (answer.status === 202) {
      const task = Task.decode(JSON.parse(answer.body));
      expect(E.isRight(task), answer.body).to.equal(true);
      accepted.set(key, (JSON.parse(answer.body) as Task).id);
      return;
    }
    const code = refusalOf(answer, ["OVERLOADED", "TEMPORAL_UNREACHABLE", "COMPONENT_MANAGER_UNREACHABLE"]);
    (code === "OVERLOADED" ? refused : open).add(key);
  }

  /** After how many milliseconds a start is accepted again, and how long its answer took. */
  async function firstAccepted(): Promise<[number, number]> {
    const began = performance.now();
    let answer: TimedAnswer | undefined;
    await until("a start is accepted", async () => {
      const message = start();
      answer = await sender.send(message);
      note(message, answer);
      return answer.status === 202;
    });
    return [performance.now() - began, answer?.milliseconds ?? NaN];
  }

  async function metric(name: string): Promise<number> {
    const answer = await sender.send({ method: "GET", path: "/metrics" });
    expect(answer.status).to.equal(200);
    const lines = answer.body.split("\n").filter((line) => line.startsWith(name));
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  /** Ids of all upgrades that Temporal has. */
  const started = (query = ""): Promise<string[]> =>
    service.withTemporal(async (client) => {
      const ids: string[] = [];
      for await (const { workflowId } of client.workflow.list({ query: `WorkflowType="upgradeWorkflow"${query}` }))
        ids.push(workflowId);
      return ids.sort();
    });

  it("are answered 202 or 503 at once, operators are served meanwhile, and nothing accepted is lost", async () => {
    const upgrade = await service.startUpgrade({
      ...example("cluster-draft"),
      resourceUpgradeSpecs: [{ resourceId: "4a6c1a1e-51b2-4d3c-9e0f-000000000021", upgradeNow: true }],
    });
    await service.taskWhen(upgrade.id, "waiting for its commit", ({ status }) => status === "Pending");

    const calm = await sender.closedLoop(atOnce, times.measured, () => start());
    for (const [message, answer] of calm) note(message, answer);
    const sustainable = accepted.size / (times.measured / 1000);
    expect(sustainable, "accepted without a flood").to.be.above(0);
    const usual = quantile(
      0.99,
      calm.map(([, { milliseconds }]) => milliseconds),
    );
    // As clients with a pool and proxies do: the kernel's queue of new connections is not what is measured.
    await sender.openConnections(Math.ceil(10 * sustainable));
    const memoryBefore = await metric("process_resident_memory_bytes");

    const flood = sender.openLoop(10 * sustainable, times.flood, () => start());
    await until(
      "the flood has come",
      async () => (await metric('ums_http_requests_admitted{load="start",state="waiting"}')) > 0,
    );
    const commit = await sender.send({ method: "PATCH", path: `/v1/upgrades/${upgrade.id}` });
    const read = await sender.send({ method: "GET", path: `/v1/tasks/${upgrade.id}` });
    const live = await sender.send({ method: "GET", path: "/health/live" });
    const cancel = await sender.send({ method: "DELETE", path: `/v1/tasks/${upgrade.id}` });
    const memoryDuring = await metric("process_resident_memory_bytes");
    const answers = await flood;
    for (const [message, answer] of answers) note(message, answer);
    const [late, again] = await firstAccepted();
    const taken = answers.filter(([, { status }]) => status === 202).length;
    const slowest = quantile(
      0.99,
      answers.map(([, { milliseconds }]) => milliseconds),
    );
    const median = quantile(
      0.5,
      answers.filter(([, { status }]) => status === 503).map(([, { milliseconds }]) => milliseconds),
    );

    const seconds = times.flood / 1000;
    const mebibytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
    const told = ({ status, milliseconds }: TimedAnswer) => `${status} in ${milliseconds.toFixed(0)} ms`;
    for (const line of [
      `sustainable: ${sustainable.toFixed(1)} starts a second, p99 ${usual.toFixed(0)} ms`,
      `offered: ${(answers.length / seconds / sustainable).toFixed(1)} times as many; accepted ${taken}, refused ${answers.length - taken}, of all so far given up ${open.size}; p99 ${slowest.toFixed(0)} ms, half of the refusals within ${median.toFixed(0)} ms`,
      `commit ${told(commit)}, read ${told(read)}, live ${told(live)}, cancel ${told(cancel)}`,
      `memory of the API: ${mebibytes(memoryBefore)}, in the flood ${mebibytes(memoryDuring)}`,
      `afterwards: accepted after ${late.toFixed(0)} ms, in ${again.toFixed(0)} ms`,
    ])
      process.stdout.write(`        ${line}\n`);

    expect(answers.length / seconds, "offered").to.be.above(5 * sustainable);
    expect(answers.length - taken, "refused").to.be.above(0);
    expect(taken, "accepted").to.be.above(0);
    const { milliseconds, wait, permits } = longestAnswer;
    expect(slowest, "p99").to.be.below(Math.max(milliseconds, wait + (2 * 1000 * permits) / sustainable));
    expect(median, "half of the refusals").to.be.below(wait);
    for (const { status, body, milliseconds } of [commit, cancel, read, live]) {
      expect(status, body).to.equal(200);
      expect(milliseconds).to.be.below(longestCommand);
    }
    expect(memoryDuring - memoryBefore, "growth of memory").to.be.below(200 * 2 ** 20);
    await service.taskWhen(upgrade.id, "cancelled", ({ status }) => status === "Cancelled", 120);
  });

  it("leave behind exactly what was accepted, and all of it can be cancelled", async () => {
    // What was given up is found by its key, or starts now.
    for (const key of open)
      await until("what was given up is accepted", async () => {
        const message = start(key);
        note(message, await sender.send(message));
        return accepted.has(key);
      });
    const ids = [...accepted.values()].sort();
    await until("Temporal lists what was accepted", async () => (await started()).length >= ids.length);
    const all = new Set(await started());
    expect(
      ids.filter((id) => !all.has(id)),
      "lost",
    ).to.deep.equal([]);
    expect(all.size, "started without a 202, beside the upgrade of the operator").to.equal(ids.length + 1);
    const left = [...ids];
    const each = async (ask: (id: string) => Promise<void>) => {
      const one = async () => {
        for (let id = left.pop(); id !== undefined; id = left.pop()) await ask(id);
      };
      await Promise.all(Array.from({ length: atOnce }, one));
    };
    await each(async (id) => {
      const read = await sender.send({ method: "GET", path: `/v1/upgrades/${id}` });
      expect(read.status, read.body).to.equal(200);
      const { status, body } = await sender.send({ method: "DELETE", path: `/v1/tasks/${id}` });
      // Done, or recorded for when the worker comes to it.
      if (status !== 200) expect((JSON.parse(body) as ErrorBody).errorCode, body).to.equal("REQUEST_NOT_YET_APPLIED");
    });
    await until(
      "all drafts are cancelled",
      async () => (await started(' AND UpgradeStatus="CANCELLED"')).length === ids.length + 1,
      120,
    );
  });
});
