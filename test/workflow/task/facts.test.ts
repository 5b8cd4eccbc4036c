import { expect } from "chai";
import { pino } from "pino";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import type { PublishedPhase, Upgrade } from "../../../src/domain/spec/upgrade";
import { temporalUpgradeExecutions } from "../../../src/temporal/upgrade-executions";
import { eventually } from "../../support/eventually";
import {
  activityFailure,
  FakeActivities,
  Gate,
  hostFailure,
  passedCheck,
  upgraded,
} from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";
import { upgradePhaseKey } from "../../../workflows/search-attributes";

describe("What an upgrade publishes of itself", function () {
  this.timeout(30_000);
  const bench = useBench("DEV_SERVER");

  /** The Upgrade in the memo, once it says that it is in this phase, as does the search attribute. */
  async function untilPhase(upgrade: RunningUpgrade, phase: PublishedPhase): Promise<Upgrade> {
    const { upgrade: published } = await eventually(
      () => upgrade.memo(),
      (memo) => memo.upgrade.phase === phase,
    );
    const { typedSearchAttributes } = await upgrade.handle.describe();
    expect(typedSearchAttributes.get(upgradePhaseKey)).to.equal(phase);
    return published;
  }

  it("is its phase and its hosts, from the draft through a pause to the cancellation", async () => {
    const gates = [new Gate(), new Gate(), new Gate()];
    const before = "9.0.0-0.24755229";
    const fake = new FakeActivities({
      runClusterPrechecks: async () => ({ stages: passedCheck(), versions: { [before]: 3 } }),
      remediateHost: async (input) => {
        await gates[Number(input.host.host.slice(-1)) - 1]?.pass();
        return upgraded(input);
      },
    });
    const upgrade = await bench().upgrade({ draft: true }, fake);
    const draft = await untilPhase(upgrade, "DRAFT_READY");
    expect(draft.waitingFor?.code).to.equal("COMMIT");
    expect(draft.createdBy).to.equal("a test");
    expect(draft.versions?.[0]?.from).to.deep.equal([before]);
    expect(draft.hostVersions).to.deep.equal([{ version: before, hosts: 3 }]);
    expect(draft).not.to.have.any.keys("hosts", "committedAt", "startedAt", "workingSince");
    await upgrade.ask("commit", { requestedBy: "jane" });
    await gates[0]?.reached;
    const first = await eventually(
      () => upgrade.memo(),
      (memo) => memo.upgrade.hosts?.running === 1,
    );
    expect(first.upgrade).to.deep.include({
      phase: "RUNNING",
      committedBy: "jane",
      hosts: { total: 3, done: 0, running: 1, failed: 0, left: 2 },
      versions: [
        { product: "HOSTOS", from: ["9.0.0-0.24755229"], to: [upgrade.plan.products[0]?.resources[0]?.targetVersion] },
      ],
    });
    expect(first.upgrade).to.include.all.keys("committedAt", "startedAt", "workingSince");
    gates[0]?.open();
    await gates[1]?.reached;
    const second = await eventually(
      () => upgrade.memo(),
      (memo) => memo.upgrade.hosts?.done === 1,
    );
    expect(second.upgrade.hosts).to.deep.equal({ total: 3, done: 1, running: 1, failed: 0, left: 1 });
    expect(second.upgrade.expectedEnd).to.be.a("string");
    await upgrade.ask("pause");
    const pausing = await untilPhase(upgrade, "PAUSING");
    expect(pausing.waitingFor?.code).to.equal("WORK_IN_PROGRESS");
    expect(pausing.status).to.equal("PAUSED");
    expect(pausing).not.to.have.property("expectedEnd");
    gates[1]?.open();
    const paused = await untilPhase(upgrade, "PAUSED");
    expect(paused.hosts).to.deep.equal({ total: 3, done: 2, running: 0, failed: 0, left: 1 });
    expect(paused.waitingFor?.code).to.equal("RESUME");
    expect(paused).not.to.have.property("workingSince");
    await upgrade.ask("resume");
    await gates[2]?.reached;
    await untilPhase(upgrade, "RUNNING");
    await upgrade.handle.cancel();
    await untilPhase(upgrade, "CANCELLING");
    expect((await upgrade.task()).isCancellable).to.equal(false);
    expect((await upgrade.memo()).task.isCancellable).to.equal(false);
    gates[2]?.open();
    expect(await upgrade.end()).to.equal("CANCELLED");
    const end = await untilPhase(upgrade, "CANCELLED");
    expect(end.since).to.equal(new Date(end.endTime ?? 0).toISOString());
    expect(end).not.to.have.any.keys("waitingFor", "until", "workingSince");
  });

  it("is the deadline of the decision about a failure, and what has become of it", async () => {
    const fake = new FakeActivities({ remediateHost: (input) => Promise.reject(hostFailure(input)) });
    const upgrade = await bench().upgrade({}, fake);
    const failed = await untilPhase(upgrade, "ACTION_REQUIRED");
    expect(failed.waitingFor).to.deep.include({ code: "DECISION", since: failed.since });
    const days = upgrade.plan.resolutionDays;
    expect(failed.decideBy).to.equal(new Date(Date.parse(failed.since ?? "") + days * 86_400_000).toISOString());
    expect(failed.until).to.equal(failed.decideBy);
    await upgrade.ask("resolve");
    await upgrade.end();
    const resolved = await untilPhase(upgrade, "RESOLVED");
    expect(resolved).not.to.have.any.keys("decideBy", "waitingFor");
  });

  it("is what a draft has failed at, and that one scheduled waits for its time", async () => {
    const failing = new FakeActivities({ runClusterPrechecks: () => Promise.reject(activityFailure("NOPE")) });
    const draft = await bench().upgrade({ draft: true }, failing);
    expect((await untilPhase(draft, "PRECHECKS_FAILED")).waitingFor?.code).to.equal("PRECHECKS");
    const scheduledTimestamp = await bench().inTime(86_400_000);
    const resources = clusters(1).map((cluster) => ({ ...cluster, scheduledTimestamp }));
    const scheduled = await untilPhase(await bench().upgrade({ resources }), "SCHEDULED");
    expect(scheduled).to.deep.include({ beginsAt: scheduledTimestamp, until: scheduledTimestamp });
    expect(scheduled.waitingFor?.code).to.equal("TIME");
  });

  it("is how long its clusters took, of which the next one is forecast, unless it has failed", async () => {
    const { client } = bench().env;
    const executions = temporalUpgradeExecutions(client, pino({ level: "silent" }));
    const read = (...ids: string[]) => executions.readClusterWork(ids)();
    const failing = new FakeActivities({ remediateHost: (input) => Promise.reject(hostFailure(input)) });
    const failed = await bench().upgrade({}, failing);
    await untilPhase(failed, "ACTION_REQUIRED");
    const upgrade = await bench().upgrade({ resources: clusters(2, "forecast") });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const ids = resourcesOf(upgrade.plan).map(({ resourceId }) => resourceId);
    const [first = ""] = ids;
    const own = await eventually(
      () => read(first),
      (work) => work.some(({ resourceId }) => resourceId === first),
    );
    expect(own.map(({ resourceId, kind }) => [resourceId, kind])).to.have.deep.members(ids.map((id) => [id, "IMAGE"]));
    expect(await read("without-an-upgrade"), "those of others").to.deep.include.members([...own]);
  });

  it("is written a few dozen times, however many hosts there are", async () => {
    const fake = new FakeActivities({}, 100);
    const upgrade = await bench().upgrade({}, fake);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    const done = (await upgrade.memo()).upgrade;
    expect(done).to.deep.include({
      phase: "SUCCEEDED",
      hosts: { total: 100, done: 100, running: 0, failed: 0, left: 0 },
    });
    expect(done.hostVersions?.reduce((sum, { hosts }) => sum + hosts, 0)).to.equal(100);
    const memos = (await upgrade.events()).filter(({ workflowPropertiesModifiedEventAttributes: memo }) => memo);
    expect(memos.length).to.be.below(40);
    const signals = (await upgrade.events()).filter(({ workflowExecutionSignaledEventAttributes: one }) => one);
    expect(signals.length).to.be.below(25);
  });
});
