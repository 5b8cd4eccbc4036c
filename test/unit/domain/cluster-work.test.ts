import { expect } from "chai";
import { resourcesOf } from "../../../src/domain/plan/upgrade-plan";
import { toEpochMilliseconds } from "../../../src/domain/timestamp";
import { type ClusterWork, expectedGroupSeconds, workOfClusters } from "../../../src/domain/upgrade/cluster-work";
import { enterPublishedPhase, initialFacts, reportHosts } from "../../../src/domain/upgrade/upgrade-facts";
import { clusters, samplePlan } from "../../support/sample-plan";

const minutes = (n: number) => new Date(Date.parse("2026-12-05T02:00:00.000Z") + n * 60_000).toISOString();
const at = (minute: number) => toEpochMilliseconds(minutes(minute));

describe("The work of clusters", () => {
  it("is the time of a group of hosts, without waiting and without hosts that were done before", () => {
    const plan = samplePlan({ resources: clusters(2), rollout: { hostsAtOnce: 2 } });
    const [first = ""] = resourcesOf(plan).map(({ resourceId }) => resourceId);
    const hosts = { total: 7, upgraded: 0, skipped: 2, failed: 0, left: 5 };
    let facts = enterPublishedPhase(initialFacts(plan), "RUNNING", minutes(0));
    facts = reportHosts(facts, first, { hosts }, at(10));
    expect(workOfClusters(plan, facts)).to.deep.equal([]);
    facts = enterPublishedPhase(facts, "PAUSED", minutes(20));
    facts = enterPublishedPhase(facts, "RUNNING", minutes(120));
    facts = reportHosts(facts, first, { hosts: { ...hosts, upgraded: 5, left: 0 } }, at(170));
    expect(workOfClusters(plan, facts), "60 minutes for 3 groups").to.deep.equal([
      { resourceId: first, kind: "IMAGE", groupSeconds: 1200 },
    ]);
  });

  const work = (resourceId: string, groupSeconds: number, kind: ClusterWork["kind"] = "IMAGE"): ClusterWork => ({
    ...{ resourceId, kind, groupSeconds },
  });
  const expected = (...before: ClusterWork[]) => expectedGroupSeconds({ resourceId: "c", kind: "IMAGE" }, before);

  it("is expected to be the median of the last five upgrades of the cluster", () => {
    expect(expected(work("c", 100))).to.equal(100);
    expect(expected(work("c", 100), work("other", 7), work("c", 200))).to.equal(150);
    expect(expected(...[900, 100, 120, 110, 90, 1, 1, 1].map((seconds) => work("c", seconds)))).to.equal(110);
  });

  it("is expected to be that of others of its kind where the cluster has none", () => {
    const others = [work("a", 100), work("b", 300), work("a", 200), work("d", 9, "BASELINE")];
    expect(expected(...others)).to.equal(200);
    expect(expected(work("d", 9, "BASELINE"))).to.equal(undefined);
  });
});
