import { randomUUID } from "node:crypto";
import { temporal } from "@temporalio/proto";
import { expect } from "chai";
import { FakeActivities } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { useBench } from "../../support/upgrade-bench";

const waiting = "Pending / DRAFT";

describe("Payloads of Signals", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  async function draft(): Promise<RunningUpgrade> {
    const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 1));
    await upgrade.untilStatuses(waiting);
    return upgrade;
  }

  /** Sends a Signal as any program can, past the client library's own encoding. */
  async function signalRaw(
    upgrade: RunningUpgrade,
    signalName: string,
    ...payloads: [encoding: string, data: string][]
  ) {
    const { client } = bench().env;
    await client.workflowService.signalWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId: upgrade.id },
      signalName,
      input: {
        payloads: payloads.map(([encoding, data]) => ({
          metadata: { encoding: Buffer.from(encoding) },
          data: Buffer.from(data),
        })),
      },
      requestId: randomUUID(),
    });
  }

  /** The upgrade still works: it takes a commit and ends well, and no Workflow Task of it has failed. */
  async function expectUnharmed(upgrade: RunningUpgrade): Promise<void> {
    expect(await upgrade.statuses()).to.equal(waiting);
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const { events = [] } = await upgrade.handle.fetchHistory();
    expect(events?.filter((event) => event.eventType === workflowTaskFailed)).to.deep.equal([]);
  }
  const workflowTaskFailed = temporal.api.enums.v1.EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED;

  it("refuses commits whose payload is no object, without harm", async () => {
    const upgrade = await draft();
    for (const payload of [1, "now", true, [], [{ upgradeNow: true }]]) await upgrade.handle.signal("commit", payload);
    await expectUnharmed(upgrade);
  });

  for (const [what, payload, code] of [
    ["a time that is none", { scheduledTimestamp: "tomorrow" }, "SIGNAL_PAYLOAD_INVALID"],
    ["a time without zone", { scheduledTimestamp: "2036-01-01T00:00:00" }, "SIGNAL_PAYLOAD_INVALID"],
    ["a time as a number", { scheduledTimestamp: 1 }, "SIGNAL_PAYLOAD_INVALID"],
    ["upgradeNow as text", { upgradeNow: "true" }, "SIGNAL_PAYLOAD_INVALID"],
    ["a sender that is no text", { requestedBy: { name: "me" } }, "SIGNAL_PAYLOAD_INVALID"],
    ["a sender longer than it may be", { requestedBy: "x".repeat(1025) }, "SIGNAL_PAYLOAD_INVALID"],
    ["null for a time", { scheduledTimestamp: null }, "SIGNAL_PAYLOAD_INVALID"],
    ["a time in the past", { scheduledTimestamp: "2020-01-01T00:00:00Z" }, "SCHEDULE_IN_THE_PAST"],
  ] as const)
    it(`refuses a commit with ${what}, and keeps why under its requestId`, async () => {
      const upgrade = await draft();
      const { accepted, reason, request } = await upgrade.ask("commit", payload);
      expect({ accepted, code: reason?.errorCode, request }).to.deep.equal({
        accepted: false,
        code,
        request: "commit",
      });
      expect(await upgrade.statuses()).to.equal(waiting);
    });

  it("takes a commit with fields that it does not know, with null, and with a second argument", async () => {
    const payloads: unknown[][] = [[{ force: true, requestId: "r" }], [null], [{}, "more"], []];
    await Promise.all(
      payloads.map(async (payload) => {
        const upgrade = await draft();
        await upgrade.handle.signal("commit", ...payload);
        expect(await upgrade.end()).to.equal("SUCCESSFUL");
      }),
    );
  });

  it("drops commits that cannot even be read, without harm", async () => {
    const upgrade = await draft();
    await signalRaw(upgrade, "commit", ["json/plain", '{"upgradeNow": tru']);
    await signalRaw(upgrade, "commit", ["json/plain", ""]);
    await signalRaw(upgrade, "commit", ["application/unheard-of", "{}"]);
    await signalRaw(upgrade, "commit", ["json/protobuf", "{}"]);
    await signalRaw(upgrade, "commit", ["binary/plain", "\u0000\u0001"]);
    await signalRaw(upgrade, "commit", ["binary/encrypted", "x"], ["json/plain", "{}"]);
    await signalRaw(upgrade, "commit", ["json/plain", '{"__proto__": 1, "requestId": {}}']);
    await expectUnharmed(upgrade);
  });

  it("drops Signals that it does not know, and its own internal ones with whatever payload, without harm", async () => {
    const upgrade = await draft();
    await upgrade.handle.signal("begin");
    await upgrade.handle.signal("shutDownEverything", { now: true });
    for (const payload of [undefined, null, 7, "x", {}, { resourceId: "a" }, { resourceId: "a", hosts: null }])
      await upgrade.handle.signal("hosts", payload);
    await upgrade.handle.signal("hosts");
    await upgrade.handle.signal("hosts", { resourceId: "a", hosts: { total: "many" }, lastError: {} });
    for (const payload of [undefined, null, 7, {}, { request: "start" }, { request: "pause", reason: "none" }])
      await upgrade.handle.signal("record", payload);
    for (const signal of ["hosts", "record"]) await signalRaw(upgrade, signal, ["application/unheard-of", "{}"]);
    await expectUnharmed(upgrade);
  });

  it("refuses retry and resolve of what has not failed, with any payload", async () => {
    const upgrade = await draft();
    for (const signal of ["retry", "resolve"] as const) {
      expect((await upgrade.ask(signal)).reason?.errorCode).to.equal("REQUEST_NOT_POSSIBLE");
      expect((await upgrade.ask(signal, { requestedBy: 5 })).reason?.errorCode).to.equal("SIGNAL_PAYLOAD_INVALID");
      await upgrade.handle.signal(signal, 5);
    }
    await expectUnharmed(upgrade);
  });

  it("gets through 1,000 commits in a burst and keeps the outcomes of the latest", async () => {
    const upgrade = await draft();
    const scheduledTimestamp = await bench().inTime(86_400_000);
    for (let sent = 0; sent < 1000; sent += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, i) =>
          upgrade.handle.signal("commit", { scheduledTimestamp, requestId: `burst-${sent + i}`, requestedBy: "me" }),
        ),
      );
    const { accepted } = await upgrade.ask("commit", { scheduledTimestamp });
    expect(accepted).to.equal(true);
    await upgrade.untilStatuses("Pending / SCHEDULED");
    expect(await upgrade.outcomeOf("burst-999")).to.include({ request: "commit", accepted: true, requestedBy: "me" });
    expect((await upgrade.ask("commit", { upgradeNow: true })).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });
});
