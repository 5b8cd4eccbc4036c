import { expect } from "chai";
import { clustersOf, type ResourcePlan, resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import { Upgrade } from "../../../src/domain/spec/upgrade";
import type { HostCounts } from "../../../src/domain/task/sub-task";
import { toEpochMilliseconds } from "../../../src/domain/timestamp";
import {
  enterPublishedPhase,
  hostsInWork,
  hostsMilestone,
  initialFacts,
  initialUpgrade,
  isInWork,
  readVersions,
  reportHosts,
  type Told,
  type UpgradeFacts,
  upgradeWithFacts,
  withResourceFacts,
} from "../../../src/domain/upgrade/upgrade-facts";
import { clusters, samplePlan } from "../../support/sample-plan";

const minutes = (n: number) => new Date(Date.parse("2026-12-05T02:00:00.000Z") + n * 60_000).toISOString();

const counts = (more: Partial<HostCounts> = {}): HostCounts => ({
  total: 10,
  upgraded: 0,
  skipped: 0,
  failed: 0,
  left: 10,
  ...more,
});

describe("Facts of an upgrade", () => {
  const plan = samplePlan({ resources: clusters(2) });
  const [first = "", second = ""] = resourcesOf(plan).map(({ resourceId }) => resourceId);
  const running = enterPublishedPhase(initialFacts(plan), "RUNNING", minutes(0));
  const begun = (facts: UpgradeFacts, ...ids: string[]) =>
    ids.reduce((all, id) => withResourceFacts(all, id, { isInWork: true }), facts);
  const report = (facts: UpgradeFacts, id: string, hosts: HostCounts, minute: number, isAtRest = false) =>
    reportHosts(facts, id, { hosts, isAtRest }, toEpochMilliseconds(minutes(minute)));
  const told = (facts: UpgradeFacts, minute: number): Told => ({
    state: {
      phase: "RUNNING",
      cancelling: false,
      failedPrechecks: [],
      missedStart: undefined,
      inWork: true,
      hostsInWork: hostsInWork(facts),
      nextTime: undefined,
      closed: undefined,
      lockHeld: undefined,
      decision: "OPEN",
      decideBy: undefined,
      lastError: undefined,
    },
    unfinished: resourcesOf(plan),
    now: toEpochMilliseconds(minutes(minute)),
  });
  const view = (facts: UpgradeFacts, minute: number) => upgradeWithFacts(plan, facts, told(facts, minute));

  it("count work apart from waiting", () => {
    const waiting = enterPublishedPhase(running, "WAITING", minutes(10));
    const again = enterPublishedPhase(waiting, "RUNNING", minutes(60));
    expect(view(again, 60)).to.deep.include({ workSeconds: 600, workingSince: minutes(60), since: minutes(60) });
    const pausing = enterPublishedPhase(again, "PAUSING", minutes(65));
    const paused = enterPublishedPhase(pausing, "PAUSED", minutes(70));
    expect(view(paused, 100).workSeconds).to.equal(1200);
    expect(view(paused, 100)).not.to.have.property("workingSince");
    expect(enterPublishedPhase(paused, "PAUSED", minutes(80))).to.equal(paused);
  });

  it("are the hosts of all clusters that have told theirs", () => {
    const one = report(begun(running, first), first, counts({ upgraded: 2, skipped: 1, failed: 1, left: 4 }), 1);
    expect(view(one, 1).hosts).to.deep.equal({ total: 10, done: 3, running: 2, failed: 1, left: 4 });
    const both = report(begun(one, second), second, counts(), 1);
    expect(view(both, 1).hosts).to.deep.equal({ total: 20, done: 3, running: 2, failed: 1, left: 14 });
  });

  it("expect the end by the hosts of this attempt that are done, of the cluster that takes longest", () => {
    const known = report(report(begun(running, first, second), first, counts(), 0), second, counts(), 0);
    expect(view(known, 1)).not.to.have.property("expectedEnd");
    const half = report(known, first, counts({ upgraded: 5, left: 4 }), 50);
    expect(view(half, 50), "the other has no host done").not.to.have.property("expectedEnd");
    const all = report(half, second, counts({ upgraded: 2, left: 7 }), 50);
    expect(view(all, 50).expectedEnd).to.equal(minutes(50 + 25 * 8));
    const paused = enterPublishedPhase(all, "PAUSED", minutes(50));
    expect(view(paused, 50)).not.to.have.property("expectedEnd");
    const calm = told(all, 50);
    const closed = { ...calm, state: { ...calm.state, closed: { code: "WINDOW" as const, message: "Closed." } } };
    expect(upgradeWithFacts(plan, all, closed), "a closed window").not.to.have.property("expectedEnd");
  });

  it("expect the end of a cluster that waits for its time by the hosts of one like it", () => {
    const timed = samplePlan({ resources: clusters(2) });
    const [one, other] = clustersOf(timed);
    if (!one || !other) throw new Error("Two clusters are wanted");
    const later = { ...other, scheduledTimestamp: minutes(300) };
    const twoTimes = { ...timed, products: [{ product: "HOSTOS" as const, resources: [one, later] }] };
    const end = (facts: UpgradeFacts, minute: number, unfinished: readonly ResourcePlan[] = [one, later]) =>
      upgradeWithFacts(twoTimes, facts, { ...told(facts, minute), unfinished }).expectedEnd;
    const old = { "8.0.0": 3, [later.targetVersion]: 5 };
    const read = readVersions(readVersions(running, one.resourceId, old), later.resourceId, old);
    expect(end(read, 1), "no host is done").to.equal(undefined);
    const begins = report(begun(read, one.resourceId), one.resourceId, counts(), 0);
    const half = report(begins, one.resourceId, counts({ upgraded: 5, left: 4 }), 50);
    expect(end(half, 50)).to.equal(minutes(300 + 3 * 10));
    const done = report(half, one.resourceId, counts({ upgraded: 10, left: 0 }), 100);
    const waiting = enterPublishedPhase(
      withResourceFacts(done, one.resourceId, { isInWork: false }),
      "WAITING",
      minutes(100),
    );
    expect(end(waiting, 200, [later])).to.equal(minutes(300 + 3 * 10));
    expect(end(half, 301), "it waits for something else").to.equal(undefined);
    const unlike = {
      ...twoTimes,
      products: [{ product: "HOSTOS" as const, resources: [one, { ...later, kind: "BASELINE" as const }] }],
    };
    expect(upgradeWithFacts(unlike, half, told(half, 50))).not.to.have.property("expectedEnd");
  });

  it("know from the prechecks of a draft from which versions it goes, until work has changed them", () => {
    const draft = readVersions(initialFacts(plan), first, { "9.0.0": 2, "8.0.0": 1 });
    expect(view(draft, 0).versions?.[0]?.from).to.deep.equal(["8.0.0", "9.0.0"]);
    expect(view(draft, 0).hostVersions).to.deep.equal([
      { version: "8.0.0", hosts: 1 },
      { version: "9.0.0", hosts: 2 },
    ]);
    const again = readVersions(draft, first, { "9.0.0": 3 });
    expect(view(again, 0).versions?.[0]?.from).to.deep.equal(["9.0.0"]);
    const worked = report(again, first, counts({ upgraded: 1 }), 1);
    expect(view(readVersions(worked, first, { "9.0.2": 3 }), 1).versions?.[0]?.from).to.deep.equal(["9.0.0"]);
  });

  it("know whether something is in work that a pause waits for", () => {
    expect(isInWork(running)).to.equal(false);
    const working = report(begun(running, first), first, counts({ left: 9 }), 1);
    expect([isInWork(working), hostsInWork(working)]).to.deep.equal([true, 1]);
    expect(isInWork(report(working, first, counts({ upgraded: 1, left: 9 }), 2, true))).to.equal(false);
    expect(isInWork(withResourceFacts(working, first, { isInWork: false }))).to.equal(false);
  });

  it("reach few milestones, whatever the number of reports", () => {
    const milestones = new Set<string>();
    let facts = begun(running, first);
    for (let done = 0; done <= 128; done += 1) {
      facts = report(facts, first, counts({ total: 128, upgraded: done, left: Math.max(0, 127 - done) }), done);
      milestones.add(hostsMilestone(plan, facts));
    }
    expect(milestones.size).to.be.within(20, 25);
  });

  it("are in the Upgrade from its acceptance on", () => {
    const upgrade = initialUpgrade(plan, "jane");
    expect(Upgrade.is(upgrade)).to.equal(true);
    expect(upgrade).to.deep.include({ name: plan.name, phase: "WAITING", createdBy: "jane", workSeconds: 0 });
    expect(upgrade.waitingFor?.code).to.equal("WORKER");
    expect(upgrade.resources?.map(({ resourceId }) => resourceId)).to.deep.equal([first, second]);
    expect(upgrade.versions).to.deep.equal([
      { product: "HOSTOS", to: [...new Set(resourcesOf(plan).map(({ targetVersion }) => targetVersion))] },
    ]);
  });
});
