import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { Task } from "../../../src/domain/spec/task";
import { example } from "../../support/service/examples";
import { ServiceUnderTest, until } from "../../support/service/service-under-test";
import { type Message, Sender, type TimedAnswer } from "./open-loop";
import { refusalOf } from "./refusal-of";

const perMinute = { changes: 6, reads: 12 };

describe("limits of what one caller may send in a minute", function () {
  this.timeout(180_000);
  let service: ServiceUnderTest;
  let sender: Sender;

  before(async () => {
    service = await ServiceUnderTest.start({
      RATE_LIMIT_CHANGES_PER_MINUTE: String(perMinute.changes),
      RATE_LIMIT_READS_PER_MINUTE: String(perMinute.reads),
      API_TRUSTED_PROXIES: "127.0.0.1",
    });
    sender = new Sender(service.apiUrls[0] ?? "");
  });

  after(async () => {
    sender.close();
    await service.discard();
  });

  /** Sends so many at once, as whoever has this address. */
  const send = (address: string, times: number, message: Message) =>
    Promise.all(
      Array.from({ length: times }, () =>
        sender.send({ ...message, headers: { ...message.headers, "x-forwarded-for": address } }),
      ),
    );
  const start: Message = { method: "POST", path: "/v1/upgrades", body: JSON.stringify(example("cluster-draft")) };
  const list: Message = { method: "GET", path: "/v1/upgrades" };

  /** Divides answers into those with this status and refusals for the rate; fails where there is anything else. */
  function divide(answers: readonly TimedAnswer[], status: number): readonly [TimedAnswer[], TimedAnswer[]] {
    const refused = answers.filter((answer) => answer.status !== status);
    for (const answer of refused) refusalOf(answer, ["RATE_LIMITED"]);
    return [answers.filter((answer) => answer.status === status), refused];
  }

  it("refuse what is more with how long to wait, start nothing for it, and take it after that time", async () => {
    const [accepted, refused] = divide(await send("192.0.2.1", perMinute.changes + 2, start), 202);
    expect([accepted.length, refused.length]).to.deep.equal([perMinute.changes, 2]);
    const wait = Number(refused[0]?.headers["retry-after"]);
    expect(wait).to.be.within(1, 60);
    expect(JSON.parse(refused[0]?.body ?? "")).to.deep.include({
      context: { retryAfterSeconds: String(wait), perMinute: String(perMinute.changes) },
    });
    await pause(wait * 1000);
    const again = await send("192.0.2.1", 1, start);
    expect(again[0]?.status, again[0]?.body).to.equal(202);

    // Whoever has started all that they may can still cancel all of it.
    const ids = accepted.map(({ body }) => (JSON.parse(body) as Task).id);
    const cancelled = await Promise.all(
      ids.map((id) => send("192.0.2.1", 1, { method: "DELETE", path: `/v1/tasks/${id}` })),
    );
    expect(cancelled.flat().map(({ status }) => status)).to.deep.equal(ids.map(() => 200));
    const listed = () =>
      service.withTemporal(async (client) => (await client.workflow.count('WorkflowType="upgradeWorkflow"')).count);
    await until("all that was accepted is listed", async () => (await listed()) >= perMinute.changes + 1);
    expect(await listed()).to.equal(perMinute.changes + 1);
  });

  it("count for each caller apart, and not what is refused for its credentials", async () => {
    await send("192.0.2.2", perMinute.changes + 1, start);
    const bad = await send("192.0.2.3", 3 * perMinute.changes, { ...start, headers: { authorization: "" } });
    expect(bad.map(({ status }) => status)).to.deep.equal(bad.map(() => 403));
    const [accepted, refused] = divide(await send("192.0.2.3", perMinute.changes + 1, start), 202);
    expect([accepted.length, refused.length]).to.deep.equal([perMinute.changes, 1]);
  });

  it("count reads apart from changes, and never health and metrics", async () => {
    const [answered, refused] = divide(await send("192.0.2.4", perMinute.reads + 3, list), 200);
    expect([answered.length, refused.length]).to.deep.equal([perMinute.reads, 3]);
    const started = await send("192.0.2.4", 1, start);
    expect(started[0]?.status, started[0]?.body).to.equal(202);
    for (const path of ["/health/live", "/health/ready", "/metrics"]) {
      const told = await send("192.0.2.4", 2 * perMinute.reads, { method: "GET", path });
      expect(told.map(({ status }) => status)).to.deep.equal(told.map(() => 200));
    }
    const [metrics] = await send("192.0.2.4", 1, { method: "GET", path: "/metrics" });
    expect(metrics?.body).to.match(/^ums_http_requests_shed_total\{load="list",reason="rate"\} 3$/m);
  });
});
