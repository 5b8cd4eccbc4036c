import { expect } from "chai";
import { beginOf, resourceNames, timeOf } from "../../../src/console/model/upgrade-row";

const now = Date.parse("2026-12-01T12:00:00Z");

describe("a row of the console's list", () => {
  it("says when an upgrade begins, began or was made", () => {
    const beginsAt = "2026-12-03T06:10:00Z";
    expect(beginOf({ id: "u", createdAt: "2026-12-01T11:59:40Z" }, now).words).to.equal("created just now");
    expect(beginOf({ id: "u", beginsAt }, now)).to.deep.equal({ words: "begins in 1 d 18 h", at: beginsAt });
    expect(beginOf({ id: "u", beginsAt: "2026-12-01T12:00:07Z" }, now).words).to.equal("begins in 7 s");
    expect(beginOf({ id: "u", beginsAt: "2026-12-01T11:00:00Z" }, now).words).to.equal("begins now");
    const startedAt = "2026-12-01T08:55:00Z";
    expect(beginOf({ id: "u", beginsAt, startedAt }, now)).to.deep.equal({
      words: "began 3 h 05 min ago",
      at: startedAt,
    });
    expect(beginOf({ id: "u" }, now)).to.deep.equal({ words: "" });
  });

  it("says how long it still takes, has worked or took, and until when to decide", () => {
    expect(timeOf({ id: "u", expectedEnd: "2026-12-01T12:40:00Z" }, now).words).to.equal("about 40 min 00 s left");
    const working = { id: "u", workSeconds: 60, workingSince: "2026-12-01T11:58:00Z" };
    expect(timeOf(working, now).words).to.equal("works for 3 min 00 s");
    const endTime = now - 26 * 3_600_000;
    expect(timeOf({ id: "u", endTime, workSeconds: 3600 }, now)).to.deep.equal({
      words: "ended 1 d 2 h ago, worked 1 h 00 min",
      at: "2026-11-30T10:00:00.000Z",
    });
    expect(
      timeOf({ id: "u", phase: "ACTION_REQUIRED", endTime, decideBy: "2026-12-01T12:30:00Z" }, now).words,
    ).to.equal("decide in 30 min");
    expect(timeOf({ id: "u" }, now)).to.deep.equal({ words: "" });
  });

  it("names what is upgraded, by ids where no name is known", () => {
    expect(resourceNames({ id: "u", resources: [{ resourceId: "1", name: "fra1" }, { resourceId: "2" }] })).to.equal(
      "fra1 and 2",
    );
    expect(resourceNames({ id: "u", resourceUpgradeSpecs: [{ resourceId: "7" }] })).to.equal("7");
  });
});
