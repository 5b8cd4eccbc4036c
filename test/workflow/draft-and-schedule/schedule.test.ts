import { expect } from "chai";
import { upgradeView } from "../../../src/domain/plan/schedule";
import { utcMinute } from "../../../src/domain/timestamp";
import { eventually } from "../../support/eventually";
import { FakeActivities, Gate, sampleError, scheduledAt, upgraded } from "../../support/fake-activities";
import type { RunningUpgrade } from "../../support/running-upgrade";
import { clusters } from "../../support/sample-plan";
import { useBench } from "../../support/upgrade-bench";

const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const scheduled = "Pending / SCHEDULED";

/** Until an upgrade has run its prechecks and waits for its time. */
async function untilItWaits(upgrade: RunningUpgrade): Promise<void> {
  await eventually(
    () => upgrade.events(),
    (events) => events.some((event) => event.timerStartedEventAttributes),
  );
  await upgrade.untilStatuses(scheduled);
}

/** Activities that note when, on the server's clock, each cluster had its first host in work. */
class Clock {
  private readonly begun = new Map<string, number>();
  readonly fake = new FakeActivities(
    {
      remediateHost: async (input) => {
        if (!this.begun.has(input.cluster.resourceId)) this.begun.set(input.cluster.resourceId, scheduledAt());
        return upgraded(input);
      },
    },
    1,
  );

  /** The cluster began at this time, and not a minute later. */
  expectBegan(upgrade: RunningUpgrade, timestamp: string | undefined, n = 0): void {
    const late = (this.begun.get(upgrade.resourceId(n)) ?? 0) - Date.parse(timestamp ?? "");
    expect(late, `milliseconds after ${timestamp}`).to.be.within(0, minute);
  }
}

describe("A scheduled upgrade", function () {
  this.timeout(30_000);
  const bench = useBench("TIME_SKIPPING");

  /** An upgrade that waits for the time of its clusters, which lie so many milliseconds ahead. */
  async function waiting(ahead: readonly number[], draft = false): Promise<{ upgrade: RunningUpgrade; clock: Clock }> {
    const clock = new Clock();
    const times = await Promise.all(ahead.map((milliseconds) => bench().inTime(milliseconds)));
    const resources = clusters(ahead.length).map((cluster, i) => ({
      ...cluster,
      ...(times[i] !== undefined && { scheduledTimestamp: times[i] }),
    }));
    const upgrade = await bench().upgrade({ resources, draft }, clock.fake);
    if (draft) await upgrade.untilStatuses("Pending / DRAFT");
    else await untilItWaits(upgrade);
    return { upgrade, clock };
  }

  const timesOf = async (upgrade: RunningUpgrade) =>
    (await upgrade.upgrade()).resourceUpgradeSpecs?.map(({ scheduledTimestamp }) => scheduledTimestamp);
  const precheckRuns = async (upgrade: RunningUpgrade) =>
    ((await upgrade.task()).subTasks ?? []).filter(({ type }) => type === "PRECHECKS").length;

  it("begins at its time, weeks ahead, and touches nothing before", async () => {
    const { upgrade, clock } = await waiting([21 * day]);
    expect(upgrade.fake.changes).to.deep.equal([]);
    await bench().passTime(20 * day);
    expect(await upgrade.statuses()).to.equal(scheduled);
    expect(upgrade.fake.changes).to.deep.equal([]);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    clock.expectBegan(upgrade, upgrade.plan.spec.resourceUpgradeSpecs[0]?.scheduledTimestamp);
  });

  it("runs its prechecks when it is accepted and, because they are old by then, when it is due", async () => {
    const { upgrade } = await waiting([day]);
    expect(await precheckRuns(upgrade)).to.equal(1);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    expect(await precheckRuns(upgrade)).to.equal(2);
  });

  it("begins each cluster at its own time", async () => {
    const { upgrade, clock } = await waiting([14 * day, 2 * day]);
    const times = await timesOf(upgrade);
    await bench().passTime(3 * day);
    await upgrade.untilStatuses("In Progress / INPROGRESS");
    expect(await upgrade.childEnd(1)).to.equal("COMPLETED");
    expect(upgrade.fake.changes).to.deep.equal(
      ["putPolicy", "setImage", "remediate", "restorePolicy"].map(
        (change) => `${change} ${upgrade.resourceId(1)}${change === "remediate" ? "/host-1" : ""}`,
      ),
    );
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    clock.expectBegan(upgrade, times?.[0], 0);
    clock.expectBegan(upgrade, times?.[1], 1);
  });

  it("runs what has no time at once, and the rest at its time", async () => {
    const clock = new Clock();
    const later = await bench().inTime(3 * day);
    const [now, then] = clusters(2);
    const upgrade = await bench().upgrade({ resources: [now!, { ...then!, scheduledTimestamp: later }] }, clock.fake);
    const began = upgrade.plan.creationTimestamp;
    await upgrade.child(0);
    expect(await upgrade.childEnd(0)).to.equal("COMPLETED");
    expect(await upgrade.statuses()).to.equal("In Progress / INPROGRESS");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    clock.expectBegan(upgrade, began, 0);
    clock.expectBegan(upgrade, later, 1);
  });

  for (const [direction, ahead] of [
    ["earlier", 5 * day],
    ["later", 60 * day],
  ] as const)
    it(`can be moved to ${direction}, all of its clusters at once, as often as one likes`, async () => {
      const { upgrade, clock } = await waiting([10 * day, 20 * day]);
      await upgrade.ask("commit", { scheduledTimestamp: await bench().inTime(15 * day) });
      const scheduledTimestamp = await bench().inTime(ahead);
      expect((await upgrade.ask("commit", { scheduledTimestamp })).accepted).to.equal(true);
      expect(await upgrade.statuses()).to.equal(scheduled);
      expect(await timesOf(upgrade)).to.deep.equal([scheduledTimestamp, scheduledTimestamp]);
      expect((await upgrade.memo()).upgrade.resourceUpgradeSpecs?.[1]).to.include({ scheduledTimestamp });
      expect(await upgrade.currentDetails()).to.contain(utcMinute(Date.parse(scheduledTimestamp)));
      expect(await upgrade.end()).to.equal("SUCCESSFUL");
      clock.expectBegan(upgrade, scheduledTimestamp, 0);
      clock.expectBegan(upgrade, scheduledTimestamp, 1);
    });

  it("begins at once on upgradeNow, which wins over a time in the same commit", async () => {
    const { upgrade, clock } = await waiting([10 * day]);
    const now = await bench().inTime(0);
    const scheduledTimestamp = await bench().inTime(5 * day);
    expect((await upgrade.ask("commit", { upgradeNow: true, scheduledTimestamp })).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    clock.expectBegan(upgrade, now);
  });

  it("keeps its time when a commit says nothing about time", async () => {
    const { upgrade, clock } = await waiting([10 * day]);
    const [time] = (await timesOf(upgrade)) ?? [];
    expect((await upgrade.ask("commit")).accepted).to.equal(true);
    expect(await timesOf(upgrade)).to.deep.equal([time]);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    clock.expectBegan(upgrade, time);
  });

  it("writes a time once, however often it is asked for it", async () => {
    const { upgrade } = await waiting([10 * day]);
    const written = async () =>
      (await upgrade.events()).filter((event) => event.workflowPropertiesModifiedEventAttributes).length;
    const scheduledTimestamp = await bench().inTime(20 * day);
    await upgrade.ask("commit", { scheduledTimestamp });
    const once = await written();
    for (let n = 0; n < 3; n++) expect((await upgrade.ask("commit", { scheduledTimestamp })).accepted).to.equal(true);
    expect(await written()).to.equal(once);
    await upgrade.ask("commit", { scheduledTimestamp: await bench().inTime(30 * day) });
    expect(await written(), "another time").to.be.greaterThan(once);
  });

  it("keeps its time when it is asked for one that has passed", async () => {
    const { upgrade } = await waiting([10 * day]);
    const [time] = (await timesOf(upgrade)) ?? [];
    const { accepted, reason } = await upgrade.ask("commit", { scheduledTimestamp: await bench().inTime(-hour) });
    expect([accepted, reason?.errorCode]).to.deep.equal([false, "SCHEDULE_IN_THE_PAST"]);
    expect(await timesOf(upgrade)).to.deep.equal([time]);
    expect(await upgrade.statuses()).to.equal(scheduled);
  });
});

describe("A draft with times", function () {
  this.timeout(30_000);
  const bench = useBench("TIME_SKIPPING");

  async function draft(ahead: readonly number[]): Promise<{ upgrade: RunningUpgrade; clock: Clock; times: string[] }> {
    const clock = new Clock();
    const times = await Promise.all(ahead.map((milliseconds) => bench().inTime(milliseconds)));
    const resources = clusters(ahead.length).map((cluster, i) => ({ ...cluster, scheduledTimestamp: times[i] ?? "" }));
    const upgrade = await bench().upgrade({ resources, draft: true }, clock.fake);
    await upgrade.untilStatuses("Pending / DRAFT");
    return { upgrade, clock, times };
  }

  it("does not begin at its time as long as nobody commits it, and then at once", async () => {
    const { upgrade, clock } = await draft([day]);
    await bench().passTime(10 * day);
    expect(await upgrade.statuses()).to.equal("Pending / DRAFT");
    expect(upgrade.fake.changes).to.deep.equal([]);
    const committed = await bench().inTime(0);
    await upgrade.ask("commit");
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    clock.expectBegan(upgrade, committed);
  });

  it("keeps the clusters' own times at a commit without one", async () => {
    const { upgrade, clock, times } = await draft([3 * day, 9 * day]);
    await upgrade.ask("commit");
    await upgrade.untilStatuses(scheduled);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    times.forEach((time, n) => clock.expectBegan(upgrade, time, n));
  });

  it("gives all clusters the time of its commit", async () => {
    const { upgrade, clock } = await draft([3 * day, 9 * day]);
    const scheduledTimestamp = await bench().inTime(30 * day);
    await upgrade.ask("commit", { scheduledTimestamp });
    await upgrade.untilStatuses(scheduled);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    [0, 1].forEach((n) => clock.expectBegan(upgrade, scheduledTimestamp, n));
  });

  it("begins at once when it is committed with upgradeNow", async () => {
    const { upgrade, clock } = await draft([3 * day, 9 * day]);
    const committed = await bench().inTime(0);
    await upgrade.ask("commit", { upgradeNow: true });
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
    [0, 1].forEach((n) => clock.expectBegan(upgrade, committed, n));
  });
});

describe("Scheduled upgrades whose worker is stopped", function () {
  this.timeout(30_000);
  // Days cannot be skipped here: the other server leaves Workflow Tasks for ever to a worker that was stopped.
  const bench = useBench("DEV_SERVER");

  it("begin at their time, or as soon as a worker is back where that has passed or was moved meanwhile", async () => {
    const upgrades = await Promise.all(
      [5000, 2500, 3_600_000].map(async (ahead) => {
        const clock = new Clock();
        const scheduledTimestamp = await bench().inTime(ahead);
        const resources = clusters(1).map((cluster) => ({ ...cluster, scheduledTimestamp }));
        const upgrade = await bench().upgrade({ resources }, clock.fake);
        // It is scheduled from the beginning; the wait for its time follows the prechecks.
        await untilItWaits(upgrade);
        return { upgrade, clock, scheduledTimestamp };
      }),
    );
    const [ahead, missed, moved] = upgrades;
    await bench().stopWorker();
    await moved!.upgrade.handle.signal("commit", { upgradeNow: true });
    await eventually(
      () => missed!.upgrade.events(),
      (events) => events.some((event) => event.timerFiredEventAttributes),
    );
    const back = await bench().inTime(0);
    await bench().startWorker();
    expect(await Promise.all(upgrades.map(({ upgrade }) => upgrade.end()))).to.deep.equal(Array(3).fill("SUCCESSFUL"));
    ahead!.clock.expectBegan(ahead!.upgrade, ahead!.scheduledTimestamp);
    missed!.clock.expectBegan(missed!.upgrade, back);
    moved!.clock.expectBegan(moved!.upgrade, back);
  });

  it("says so from the beginning, and takes another time while its prechecks run", async () => {
    const gate = new Gate();
    const fake = new FakeActivities({
      runClusterPrechecks: async (input) => {
        await gate.pass();
        return new FakeActivities().implementation().runClusterPrechecks(input);
      },
    });
    const [resource] = clusters(1);
    const scheduledTimestamp = await bench().inTime(86_400_000);
    const upgrade = await bench().upgrade({ resources: [{ ...resource!, scheduledTimestamp }] }, fake);
    expect(upgradeView(upgrade.plan).status).to.equal("SCHEDULED");
    await gate.reached;
    expect(await upgrade.statuses()).to.equal(scheduled);
    const later = await bench().inTime(172_800_000);
    expect((await upgrade.ask("commit", { scheduledTimestamp: later })).accepted).to.equal(true);
    expect((await upgrade.upgrade()).resourceUpgradeSpecs?.[0]?.scheduledTimestamp).to.equal(later);
    expect((await upgrade.ask("commit", { upgradeNow: true })).accepted).to.equal(true);
    gate.open();
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });
});

describe("The bundle of an upgrade", function () {
  this.timeout(60_000);
  const bench = useBench("TIME_SKIPPING");

  it("is looked at when the upgrade becomes due: one that was recalled meanwhile ends it before anything is touched", async () => {
    let isRecalled = true;
    const fake = new FakeActivities({
      checkBundle: () => Promise.resolve(isRecalled ? { error: sampleError("BUNDLE_RECALLED") } : {}),
    });
    const scheduledTimestamp = await bench().inTime(hour);
    const upgrade = await bench().upgrade(
      { resources: clusters(1).map((one) => ({ ...one, scheduledTimestamp })) },
      fake,
    );
    await bench().passTime(2 * hour);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect(fake.changes).to.deep.equal([]);
    expect((await upgrade.task()).errors?.map(({ errorCode }) => errorCode)).to.deep.equal(["BUNDLE_RECALLED"]);
    isRecalled = false;
    expect((await upgrade.ask("retry")).accepted).to.equal(true);
    expect(await upgrade.end()).to.equal("SUCCESSFUL");
  });

  it("is looked at when a draft is committed: one that was recalled does not wait for its time", async () => {
    const fake = new FakeActivities({ checkBundle: async () => ({ error: sampleError("BUNDLE_RECALLED") }) });
    const upgrade = await bench().upgrade({ draft: true }, fake);
    const scheduledTimestamp = await bench().inTime(hour);
    expect((await upgrade.ask("commit", { scheduledTimestamp })).accepted).to.equal(true);
    await upgrade.untilStatuses("Failed / COMPLETED_WITH_FAILURE");
    expect((await upgrade.task()).errors?.map(({ errorCode }) => errorCode)).to.deep.equal(["BUNDLE_RECALLED"]);
    expect(await bench().now()).to.be.lessThan(Date.parse(scheduledTimestamp));
    expect(fake.changes).to.deep.equal([]);
  });
});
