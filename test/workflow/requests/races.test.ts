import { expect } from "chai";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, hostFailure, upgraded } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const waiting = "Pending / DRAFT";
const scheduled = "Pending / SCHEDULED";
const failed = "Failed / COMPLETED_WITH_FAILURE";

describe("Requests that race", function () {
  this.timeout(60_000);
  const bench = useBench("DEV_SERVER");

  /** Sends what `requests` send while no worker runs, so that the upgrade receives all of it in one moment. */
  async function inOneMoment(requests: () => Promise<void>): Promise<void> {
    await bench().stopWorker();
    await requests();
    await bench().startWorker();
  }

  /** Task, Upgrade, memo and Temporal agree that the upgrade was cancelled, and its cluster is free. */
  async function expectCancelled(upgrade: RunningUpgrade): Promise<void> {
    expect(await upgrade.end()).to.equal("CANCELLED");
    expect(await upgrade.statuses()).to.equal("Cancelled / CANCELLED");
    const memo = await upgrade.memo();
    expect([memo.task.status, memo.upgrade.status]).to.deep.equal(["Cancelled", "CANCELLED"]);
    expect(await upgrade.childEnd()).to.be.oneOf([undefined, "CANCELED", "CANCELLED"]);
    const count = (call: string) => upgrade.fake.changes.filter((change) => change.startsWith(call)).length;
    expect(count("restorePolicy"), "restored wherever it was changed").to.be.at.least(count("putPolicy"));
  }

  async function failedUpgrade(): Promise<RunningUpgrade> {
    let reported = 0;
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (reported++ === 0) throw hostFailure(input);
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await upgrade.untilStatuses(failed);
    return upgrade;
  }

  const restarts = ({ fake }: RunningUpgrade) => fake.calls.filter((call) => call.startsWith("putPolicy")).length;

  it("a commit and a cancellation end as cancelled, whichever is received first", async () => {
    for (const order of ["commit", "cancel"] as const) {
      const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 1));
      await upgrade.untilStatuses(waiting);
      const commit = () => upgrade.handle.signal("commit", { requestId: "commit" });
      const cancel = () => upgrade.handle.cancel();
      await inOneMoment(async () => {
        for (const request of order === "commit" ? [commit, cancel] : [cancel, commit]) await request();
      });
      await expectCancelled(upgrade);
      expect(upgrade.fake.changes).to.deep.equal([]);
    }
  });

  it("a commit and a cancellation that are sent at once end in one state", async () => {
    for (let round = 0; round < 5; round++) {
      const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 1));
      await upgrade.untilStatuses(waiting);
      await Promise.all([upgrade.handle.signal("commit", { requestId: "commit" }), upgrade.handle.cancel()]);
      await expectCancelled(upgrade);
    }
  });

  it("a commit to an upgrade that is being cancelled is refused", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        await gate.pass().catch(() => undefined);
        await stopped.pass().catch(() => undefined);
        return upgraded(input);
      },
    });
    const stopped = new Gate();
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await upgrade.handle.cancel();
    await eventually(
      () => upgrade.currentDetails(),
      (details) => details.startsWith("**Cancelling** "),
    );
    for (const request of ["commit", "pause", "resume", "prechecks", "retry", "resolve"] as const) {
      const requestId = `late-${request}`;
      await upgrade.handle.signal(request, { requestId });
    }
    await expectCancelled(upgrade);
    for (const request of ["commit", "pause", "resume", "prechecks", "retry", "resolve"] as const)
      expect((await upgrade.outcomeOf(`late-${request}`)).reason?.message).to.contain("being cancelled");
  });

  it("a pause and the end of the last host end well, and no pause is left", async () => {
    for (let round = 0; round < 5; round++) {
      const gate = new Gate();
      const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, 1);
      const upgrade = await bench().upgrade({}, fake);
      await gate.reached;
      gate.open();
      await upgrade.handle.signal("pause", { requestId: "pause" });
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      expect(await upgrade.statuses()).to.equal("Successful / COMPLETED_WITH_SUCCESS");
      expect(JSON.stringify(await upgrade.task())).not.to.contain("aused");
      expect((await upgrade.memo()).upgrade.status).to.equal("COMPLETED_WITH_SUCCESS");
    }
  });

  it("pauses and resumptions in one moment leave the upgrade and its clusters as the last one says", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, 2);
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await inOneMoment(async () => {
      for (const name of ["pause", "resume", "pause", "resume", "pause", "resume"]) await upgrade.handle.signal(name);
    });
    expect(await upgrade.statuses()).to.equal("In Progress / INPROGRESS");
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("of two retries one is accepted, and the upgrade runs once more", async () => {
    const upgrade = await failedUpgrade();
    await inOneMoment(async () => {
      await upgrade.handle.signal("retry", { requestId: "one" });
      await upgrade.handle.signal("retry", { requestId: "two" });
    });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const outcomes = [await upgrade.outcomeOf("one"), await upgrade.outcomeOf("two")];
    expect(outcomes.map(({ accepted }) => accepted)).to.deep.equal([true, false]);
    expect(restarts(upgrade)).to.equal(2);
    expect((await upgrade.task()).errors).to.have.length(1);
  });

  it("a retry and a resolution: the first one holds", async () => {
    const upgrade = await failedUpgrade();
    await inOneMoment(async () => {
      await upgrade.handle.signal("resolve", { requestId: "resolve" });
      await upgrade.handle.signal("retry", { requestId: "retry" });
    });
    expect(await upgrade.end()).to.equal("FAILED");
    expect((await upgrade.outcomeOf("retry")).accepted).to.equal(false);
    const { isRetryable, isCancellable, resolutionStatus } = await upgrade.task();
    expect([isRetryable, isCancellable, resolutionStatus]).to.deep.equal([false, false, "RESOLVED"]);
    expect(restarts(upgrade)).to.equal(1);
  });

  it("of two commits with different times the one that is received last gives the time", async () => {
    const upgrade = await bench().upgrade({ draft: true, resources: clusters(2) });
    await upgrade.untilStatuses(waiting);
    const [first, last] = [await bench().inTime(86_400_000), await bench().inTime(2 * 86_400_000)];
    await inOneMoment(async () => {
      await upgrade.handle.signal("commit", { scheduledTimestamp: first, requestId: "one" });
      await upgrade.handle.signal("commit", { scheduledTimestamp: last, requestId: "two" });
    });
    await upgrade.untilStatuses(scheduled);
    const outcomes = [await upgrade.outcomeOf("one"), await upgrade.outcomeOf("two")];
    expect(outcomes.map(({ accepted }) => accepted)).to.deep.equal([true, true]);
    const specs = (await upgrade.upgrade()).resourceUpgradeSpecs ?? [];
    expect(specs.map(({ scheduledTimestamp }) => scheduledTimestamp)).to.deep.equal([last, last]);
    expect((await upgrade.memo()).upgrade.resourceUpgradeSpecs?.[0]?.scheduledTimestamp).to.equal(last);
  });

  it("a cancellation while workers are exchanged ends a paused upgrade as cancelled", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      remediateHost: async (input) => {
        if (!input.stop) await gate.pass();
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    await inOneMoment(async () => {
      await upgrade.handle.signal("pause", { requestId: "pause" });
      await upgrade.handle.cancel();
    });
    await expectCancelled(upgrade);
    expect(await upgrade.hosts()).to.deep.equal(["SUCCESSFUL", "NOT_APPLICABLE", "NOT_APPLICABLE"]);
  });

  it("a Signal that is delivered twice takes effect once and keeps its outcome", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({ remediateHost: (input) => gate.pass().then(() => upgraded(input)) }, 1);
    const upgrade = await bench().upgrade({}, fake);
    await gate.reached;
    for (const [name, requestId] of [
      ["pause", "p"],
      ["resume", "r"],
      ["pause", "p"],
    ] as const)
      await upgrade.handle.signal(name, { requestId });
    expect(await upgrade.statuses()).to.equal("In Progress / INPROGRESS");
    expect((await upgrade.outcomeOf("p")).accepted).to.equal(true);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("a commit that is delivered again after another one does not take back its time", async () => {
    const upgrade = await bench().upgrade({ draft: true });
    await upgrade.untilStatuses(waiting);
    const [first, last] = [await bench().inTime(86_400_000), await bench().inTime(2 * 86_400_000)];
    const commit = { scheduledTimestamp: first, requestId: "one" };
    await upgrade.handle.signal("commit", commit);
    await upgrade.untilStatuses(scheduled);
    await upgrade.handle.signal("commit", { scheduledTimestamp: last, requestId: "two" });
    await upgrade.handle.signal("commit", commit);
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect((await upgrade.upgrade()).resourceUpgradeSpecs?.[0]?.scheduledTimestamp).to.equal(last);
    expect((await upgrade.outcomeOf("one")).accepted).to.equal(true);
  });
});
