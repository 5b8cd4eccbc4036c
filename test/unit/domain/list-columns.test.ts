import { expect } from "chai";
import { joinNames, startsAt, toKeyword } from "../../../src/domain/upgrade/list-columns";
import { clusters, samplePlan } from "../../support/sample-plan";

describe("Columns of lists in the Temporal Web UI", () => {
  it("names: all that fit into one search attribute, then how many more", () => {
    expect(joinNames(["fra1-prod", "ams1-edge"])).to.equal("fra1-prod, ams1-edge");
    const names = Array.from({ length: 256 }, (_, i) => `cluster-${i}-münchen`);
    const column = joinNames(names);
    expect(Buffer.byteLength(JSON.stringify(column))).to.be.at.most(2048);
    const [, more] = /, and (\d+) more$/.exec(column) ?? [];
    expect(column.split(", ").length - 1 + Number(more)).to.equal(names.length);
  });

  it("keywords: as long as Temporal's databases keep them, without what SQLite fails for", () => {
    expect(toKeyword(`"jane"\u0000 ${"x".repeat(300)}`)).to.equal(` jane   ${"x".repeat(300)}`.slice(0, 255));
  });

  it("start: the earliest time of the schedule, until the work has begun", () => {
    const [first, second] = ["2030-01-06T01:00:00.000Z", "2030-01-05T01:00:00.000Z"];
    const resources = clusters(2).map((one, i) => ({ ...one, scheduledTimestamp: i === 0 ? first : second }));
    expect(startsAt(samplePlan({ resources }), {})).to.equal(second);
    expect(startsAt(samplePlan(), {})).to.equal(undefined);
    expect(startsAt(samplePlan({ resources }), { startedAt: "2030-01-05T01:00:09.000Z" })).to.contain(":09");
  });
});
