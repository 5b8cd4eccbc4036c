import { expect } from "chai";
import {
  failedCheck,
  FakeActivities,
  Gate,
  hostFailure,
  passedCheck,
  sampleError,
} from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const waiting = "Pending / DRAFT";

describe("Running the prechecks of a draft again", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** A draft whose runs of prechecks end as told, one after the other; a later one stays at the gate before. */
  async function draft(runs: readonly ("passes" | "fails")[], gate?: Gate): Promise<RunningUpgrade> {
    let run = 0;
    const fake = new FakeActivities(
      {
        runClusterPrechecks: async () => {
          const ends = runs[run++];
          if (run > 1) await gate?.pass();
          return { stages: ends === "fails" ? failedCheck() : passedCheck() };
        },
      },
      1,
    );
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await upgrade.untilStatuses(waiting);
    return upgrade;
  }

  const runsOf = async (upgrade: RunningUpgrade) =>
    ((await upgrade.task()).subTasks ?? [])
      .filter(({ type }) => type === "PRECHECKS")
      .map(({ name, status }) => `${name} ${status}`);

  it("lets a draft be committed whose prechecks had failed, once they have passed", async () => {
    const upgrade = await draft(["fails", "passes"]);
    const refused = await upgrade.ask("commit");
    expect([refused.accepted, refused.reason?.errorCode]).to.deep.equal([false, "PRECHECKS_FAILED"]);
    expect(refused.reason?.nestedErrors?.[0]?.nestedErrors).to.deep.equal([sampleError("HOST_NOT_CONNECTED")]);
    expect(await upgrade.currentDetails()).to.contain("--name prechecks");
    const again = await upgrade.ask("prechecks", { requestedBy: "operator" });
    expect([again.accepted, again.run, again.requestedBy]).to.deep.equal([true, 2, "operator"]);
    await upgrade.untilStatuses(waiting);
    expect(await upgrade.currentDetails())
      .to.contain("--name commit")
      .and.not.to.contain("Last error");
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await runsOf(upgrade)).to.deep.equal(["Prechecks FAILED", "Prechecks, run 2 SUCCESSFUL"]);
  });

  it("keeps every earlier run readable on the Task, with what it found", async () => {
    const upgrade = await draft(["passes", "fails", "passes"]);
    for (const run of [2, 3]) {
      expect((await upgrade.ask("prechecks")).run).to.equal(run);
      await upgrade.untilStatuses(waiting);
    }
    expect(await runsOf(upgrade)).to.deep.equal([
      "Prechecks SUCCESSFUL",
      "Prechecks, run 2 FAILED",
      "Prechecks, run 3 SUCCESSFUL",
    ]);
    const [, second] = (await upgrade.task()).subTasks ?? [];
    expect(second?.subTasks?.[0]?.errors).to.deep.equal([sampleError("HOST_NOT_CONNECTED")]);
    expect((await upgrade.memo()).task.subTasks?.length).to.equal(4);
  });

  it("refuses a second request while they run, and says so", async () => {
    const gate = new Gate();
    const upgrade = await draft(["fails", "passes"], gate);
    expect((await upgrade.ask("prechecks")).accepted).to.equal(true);
    await gate.reached;
    expect(await upgrade.statuses()).to.equal("In Progress / DRAFT");
    const { accepted, reason, run } = await upgrade.ask("prechecks");
    expect([accepted, reason?.errorType, run]).to.deep.equal([false, "CONFLICT", undefined]);
    expect(reason?.message).to.contain("already running");
    gate.open();
    await upgrade.untilStatuses(waiting);
    expect(await runsOf(upgrade)).to.have.length(2);
  });

  it("takes a commit that comes meanwhile when they pass, and drops it when they fail", async () => {
    for (const [ends, statuses] of [
      ["passes", "Successful / COMPLETED_WITH_SUCCESS"],
      ["fails", waiting],
    ] as const) {
      const gate = new Gate();
      const upgrade = await draft(["fails", ends], gate);
      await upgrade.ask("prechecks");
      await gate.reached;
      expect((await upgrade.ask("commit")).accepted).to.equal(true);
      gate.open();
      await upgrade.untilStatuses(statuses);
      if (ends === "fails") expect(upgrade.fake.changes).to.deep.equal([]);
    }
  });

  it("runs one of two requests that arrive at the same moment", async () => {
    const upgrade = await draft(["fails", "passes", "passes"]);
    await bench().stopWorker();
    await upgrade.handle.signal("prechecks", { requestId: "one" });
    await upgrade.handle.signal("prechecks", { requestId: "two" });
    await bench().startWorker();
    const outcomes = [await upgrade.outcomeOf("one"), await upgrade.outcomeOf("two")];
    expect(outcomes.map(({ accepted }) => accepted)).to.deep.equal([true, false]);
    await upgrade.untilStatuses(waiting);
    expect(await runsOf(upgrade)).to.have.length(2);
  });

  it("is refused where a commit came first in the same moment", async () => {
    const upgrade = await draft(["passes", "passes"]);
    await bench().stopWorker();
    await upgrade.handle.signal("commit", { requestId: "commit" });
    await upgrade.handle.signal("prechecks", { requestId: "prechecks" });
    await bench().startWorker();
    expect((await upgrade.outcomeOf("commit")).accepted).to.equal(true);
    expect((await upgrade.outcomeOf("prechecks")).accepted).to.equal(false);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await runsOf(upgrade)).to.have.length(1);
  });

  it("is refused outside a draft, with the reason", async () => {
    const scheduledTimestamp = await bench().inTime(86_400_000);
    const scheduled = await bench().upgrade({ resources: clusters(1).map((c) => ({ ...c, scheduledTimestamp })) });
    const fails = new FakeActivities({ remediateHost: (input) => Promise.reject(hostFailure(input)) });
    const failed = await bench().upgrade({}, fails);
    await scheduled.untilStatuses("Pending / SCHEDULED");
    await failed.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    for (const upgrade of [scheduled, failed]) {
      const { accepted, reason } = await upgrade.ask("prechecks");
      expect([accepted, reason?.errorCode]).to.deep.equal([false, "REQUEST_NOT_POSSIBLE"]);
      expect(reason?.message).to.contain("Only the prechecks of an uncommitted draft");
    }
  });

  it("can be cancelled while they run", async () => {
    const gate = new Gate();
    const upgrade = await draft(["fails", "passes"], gate);
    await upgrade.ask("prechecks");
    await gate.reached;
    await upgrade.handle.cancel();
    expect(await upgrade.end()).to.equal("CANCELLED");
    expect(await runsOf(upgrade)).to.deep.equal(["Prechecks FAILED", "Prechecks, run 2 FAILED"]);
    expect(upgrade.fake.changes).to.deep.equal([]);
  });
});
