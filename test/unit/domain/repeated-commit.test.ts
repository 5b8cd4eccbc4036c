import { expect } from "chai";
import { changesNothing } from "../../../src/domain/repeated-commit";
import type { Upgrade } from "../../../src/domain/upgrade";

const [time, sameTime, otherTime] = ["2026-12-01T09:30:00Z", "2026-12-01T10:30:00+01:00", "2026-12-01T09:31:00Z"];

const upgrade = (
  status: NonNullable<Upgrade["status"]>,
  ...times: Upgrade["resourceUpgradeSpecs"] & object
): Upgrade => ({
  id: "u",
  status,
  resourceUpgradeSpecs: times,
});
const scheduled = upgrade("SCHEDULED", { resourceId: "a", scheduledTimestamp: time });

describe("changesNothing", () => {
  it("is so of the time that a scheduled upgrade has, however it is written, and of no time", () => {
    for (const commit of [
      { scheduledTimestamp: time },
      { scheduledTimestamp: sameTime },
      { scheduledTimestamp: time, upgradeNow: false },
      {},
    ])
      expect(changesNothing(commit, scheduled), JSON.stringify(commit)).to.equal(true);
  });

  it("is not so of another time, of none at all, and of a switchover", () => {
    const mgmtUpgradePatchSpecs = [{ resourceId: "m", startSwitchoverTimestamp: otherTime }];
    for (const commit of [
      { scheduledTimestamp: otherTime },
      { upgradeNow: true },
      { scheduledTimestamp: time, upgradeNow: true },
      { mgmtUpgradePatchSpecs },
      { scheduledTimestamp: time, mgmtUpgradePatchSpecs },
    ])
      expect(changesNothing(commit, scheduled), JSON.stringify(commit)).to.equal(false);
  });

  it("is not so where resources have times of their own", () => {
    const one = { resourceId: "a", scheduledTimestamp: time };
    for (const other of [{ resourceId: "b" }, { resourceId: "b", scheduledTimestamp: otherTime }])
      expect(changesNothing({ scheduledTimestamp: time }, upgrade("SCHEDULED", one, other))).to.equal(false);
    expect(changesNothing({ scheduledTimestamp: time }, upgrade("SCHEDULED", { ...one, upgradeNow: true }))).to.equal(
      false,
    );
  });

  it("is not so of an upgrade that is not scheduled", () => {
    for (const status of ["DRAFT", "PENDING", "INPROGRESS", "PAUSED"] as const)
      expect(changesNothing({}, upgrade(status, { resourceId: "a", scheduledTimestamp: time })), status).to.equal(
        false,
      );
  });
});
