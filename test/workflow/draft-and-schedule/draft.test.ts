import { WorkflowNotFoundError } from "@temporalio/common";
import { expect } from "chai";
import {
  activityFailure,
  failedCheck,
  FakeActivities,
  Gate,
  passedCheck,
  sampleError,
} from "../../support/fake-activities";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const waiting = "Pending / DRAFT";
const done = "Successful / COMPLETED_WITH_SUCCESS";

/** Prechecks that stay at a gate, and then pass or fail. */
function gatedPrechecks(gate: Gate, stages = passedCheck()): FakeActivities {
  return new FakeActivities(
    {
      runClusterPrechecks: async () => {
        await gate.pass();
        return { stages };
      },
    },
    1,
  );
}

describe("Draft", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  it("runs its prechecks at once, then waits and touches nothing until the commit", async () => {
    const gate = new Gate();
    const upgrade = await bench().upgrade({ draft: true }, gatedPrechecks(gate));
    await gate.reached;
    expect(await upgrade.statuses()).to.equal("In Progress / DRAFT");
    gate.open();
    await upgrade.untilStatuses(waiting);
    const { subTasks = [], isCancellable } = await upgrade.task();
    expect(subTasks.map(({ type, status }) => `${type} ${status}`)).to.deep.equal([
      "PRECHECKS SUCCESSFUL",
      "HOSTOS_UPGRADE PENDING",
    ]);
    expect(isCancellable).to.equal(true);
    expect(upgrade.fake.calls).to.deep.equal([`prechecks ${upgrade.resourceId()}`]);
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(upgrade.fake.calls.filter((call) => call.startsWith("prechecks"))).to.have.length(1);
  });

  it("runs every precheck of every cluster even if one fails, and shows each", async () => {
    const resources = clusters(3);
    const fake = new FakeActivities({
      runClusterPrechecks: async ({ cluster }) => ({
        stages: cluster.resourceId === resources[0]?.resourceId ? [...failedCheck(), ...passedCheck()] : passedCheck(),
      }),
    });
    const upgrade = await bench().upgrade({ draft: true, resources }, fake);
    await upgrade.untilStatuses(waiting);
    const [prechecks] = (await upgrade.task()).subTasks ?? [];
    expect(prechecks?.status).to.equal("FAILED");
    expect(prechecks?.subTasks?.map(({ status }) => status)).to.deep.equal(["FAILED", "SUCCESSFUL", "SUCCESSFUL"]);
    expect(prechecks?.subTasks?.[0]?.stages?.map(({ status }) => status)).to.deep.equal(["FAILED", "SUCCESSFUL"]);
    expect(prechecks?.subTasks?.[0]?.errors).to.deep.equal([sampleError("HOST_NOT_CONNECTED")]);
  });

  it("shows prechecks that could not be run as failed ones", async () => {
    const fake = new FakeActivities({
      runClusterPrechecks: () => Promise.reject(activityFailure("COMPONENT_MANAGER_UNREACHABLE")),
    });
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await upgrade.untilStatuses(waiting);
    const [stage] = (await upgrade.task()).subTasks?.[0]?.subTasks?.[0]?.stages ?? [];
    expect(stage?.status).to.equal("FAILED");
    expect(stage?.errors).to.deep.equal([sampleError("COMPONENT_MANAGER_UNREACHABLE")]);
    expect((await upgrade.ask("commit")).accepted).to.equal(false);
  });

  it("takes a commit that comes while the prechecks run when they pass", async () => {
    const gate = new Gate();
    const upgrade = await bench().upgrade({ draft: true }, gatedPrechecks(gate));
    await gate.reached;
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await upgrade.statuses()).to.equal("In Progress / DRAFT");
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await upgrade.statuses()).to.equal(done);
  });

  it("drops a commit that came while the prechecks ran when they fail, and says so", async () => {
    const gate = new Gate();
    const upgrade = await bench().upgrade({ draft: true }, gatedPrechecks(gate, failedCheck()));
    await gate.reached;
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    gate.open();
    await upgrade.untilStatuses(waiting);
    const { accepted, reason } = await upgrade.outcomeOf("request-1");
    expect(accepted).to.equal(false);
    expect(reason?.errorCode).to.equal("PRECHECKS_FAILED");
    expect(upgrade.fake.changes).to.deep.equal([]);
  });

  it("refuses a commit after failed prechecks, as often as it comes, and stays a draft", async () => {
    const fake = new FakeActivities({ runClusterPrechecks: async () => ({ stages: failedCheck() }) });
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await upgrade.untilStatuses(waiting);
    for (const payload of [{}, { upgradeNow: true }]) {
      const { accepted, reason } = await upgrade.ask("commit", payload);
      expect(accepted).to.equal(false);
      expect(reason?.errorCode).to.equal("PRECHECKS_FAILED");
      expect(reason?.nestedErrors?.[0]?.nestedErrors).to.deep.equal([sampleError("HOST_NOT_CONNECTED")]);
    }
    expect(await upgrade.statuses()).to.equal(waiting);
    expect(fake.changes).to.deep.equal([]);
  });

  it("runs once however often it is committed, and the later commits are refused once it runs", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({ readClusterHosts: () => gate.pass().then(() => []) });
    const upgrade = await bench().upgrade({ draft: true }, fake);
    await upgrade.untilStatuses(waiting);
    await Promise.all([upgrade.handle.signal("commit"), upgrade.handle.signal("commit")]);
    await gate.reached;
    const { accepted, reason } = await upgrade.ask("commit");
    expect(accepted).to.equal(false);
    expect(reason?.errorCode).to.equal("REQUEST_NOT_POSSIBLE");
    expect(reason?.context).to.deep.equal({ status: "INPROGRESS" });
    gate.open();
    expect(await upgrade.end()).to.equal("NOTHING_TO_DO");
    expect(fake.calls.filter((call) => call.startsWith("readHosts"))).to.have.length(1);
  });

  it("is not disturbed by a commit after its end", async () => {
    const upgrade = await bench().upgrade({ draft: true }, new FakeActivities({}, 1));
    await upgrade.handle.signal("commit");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const refused = await upgrade.handle.signal("commit").catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(WorkflowNotFoundError);
    expect(await upgrade.statuses()).to.equal(done);
  });

  it("shows that it is no draft any more as soon as the commit is taken", async () => {
    const upgrade = await bench().upgrade({ draft: true, resources: clusters(40) }, new FakeActivities({}, 1));
    await upgrade.untilStatuses(waiting);
    const { accepted } = await upgrade.ask("commit");
    expect(accepted).to.equal(true);
    expect((await upgrade.upgrade()).status).not.to.equal("DRAFT");
  });

  it("keeps the time of a commit when a commit without one follows at once", async () => {
    const gate = new Gate();
    const upgrade = await bench().upgrade({ draft: true }, gatedPrechecks(gate));
    await gate.reached;
    const scheduledTimestamp = await bench().inTime(86_400_000);
    await upgrade.ask("commit", { scheduledTimestamp });
    await upgrade.ask("commit");
    gate.open();
    await upgrade.untilStatuses("Pending / SCHEDULED");
    expect((await upgrade.upgrade()).resourceUpgradeSpecs?.[0]?.scheduledTimestamp).to.equal(scheduledTimestamp);
  });

  it("gives effect to every commit that it accepts, also to one that follows the first within a moment", async () => {
    const upgrade = await bench().upgrade({ draft: true, resources: clusters(10) });
    await upgrade.untilStatuses(waiting);
    const scheduledTimestamp = await bench().inTime(86_400_000);
    const soon = await bench().inTime(43_200_000);
    const outcomes = await Promise.all([
      upgrade.ask("commit", { scheduledTimestamp }),
      upgrade.ask("commit", { scheduledTimestamp }),
      upgrade.ask("commit", { scheduledTimestamp }),
      upgrade.ask("commit", { scheduledTimestamp }),
    ]);
    const last = await upgrade.ask("commit", { scheduledTimestamp: soon });
    expect(outcomes.map(({ accepted }) => accepted)).to.deep.equal([true, true, true, true]);
    expect(last.accepted).to.equal(true);
    await upgrade.untilStatuses("Pending / SCHEDULED");
    expect((await upgrade.upgrade()).resourceUpgradeSpecs?.[0]?.scheduledTimestamp).to.equal(soon);
    expect(upgrade.fake.changes).to.deep.equal([]);
  });
});
