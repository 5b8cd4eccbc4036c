import { expect } from "chai";
import { beginOf, resourceNames, timeOf } from "../../../src/console/model/upgrade-row";

const now = Date.parse("2026-12-01T12:00:00Z");

describe("a row of the console's list", () => {
  it("says when an upgrade begins, began or was made", () => {
    const createdAt = "2026-12-01T08:00:00Z";
    const beginsAt = "2026-12-03T06:10:00Z";
    const startedAt = "2026-12-01T08:55:00Z";
    expect(beginOf({ id: "u", createdAt })).to.deep.equal({ before: "created", at: Date.parse(createdAt) });
    expect(beginOf({ id: "u", createdAt, beginsAt })).to.deep.equal({ before: "begins", at: Date.parse(beginsAt) });
    expect(beginOf({ id: "u", createdAt, beginsAt, startedAt })).to.deep.equal({
      before: "began",
      at: Date.parse(startedAt),
    });
    expect(beginOf({ id: "u" })).to.deep.equal({ before: "" });
  });

  it("says how long it still takes, has worked or took, and until when to decide", () => {
    expect(timeOf({ id: "u", expectedEnd: "2026-12-01T12:40:00Z" }, now).before).to.equal("about 40 min left");
    const working = { id: "u", workSeconds: 60, workingSince: "2026-12-01T11:58:00Z" };
    expect(timeOf(working, now).before).to.equal("worked 3 min");
    const endTime = now - 26 * 3_600_000;
    expect(timeOf({ id: "u", endTime, workSeconds: 3600 }, now)).to.deep.equal({
      before: "ended",
      at: endTime,
      after: "worked 1 h",
    });
    const decideBy = "2026-12-01T12:30:00Z";
    expect(timeOf({ id: "u", phase: "ACTION_REQUIRED", endTime, decideBy }, now)).to.deep.equal({
      before: "decide by",
      at: Date.parse(decideBy),
    });
    expect(timeOf({ id: "u" }, now)).to.deep.equal({ before: "" });
  });

  it("names what is upgraded, by ids where no name is known", () => {
    expect(resourceNames({ id: "u", resources: [{ resourceId: "1", name: "fra1" }, { resourceId: "2" }] })).to.equal(
      "fra1 and 2",
    );
    expect(resourceNames({ id: "u", resourceUpgradeSpecs: [{ resourceId: "7" }] })).to.equal("7");
  });
});
