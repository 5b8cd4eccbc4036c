import { expect } from "chai";
import { activityWords } from "../../../src/domain/activity/activity-words";
import type { ActivityEntry } from "../../../src/domain/activity/upgrade-activity";

const time = "2026-12-01T09:30:00.000Z";

const wordsOf = (entry: Omit<ActivityEntry, "sequence" | "time">) =>
  activityWords({ sequence: 1, time, ...entry }, (timestamp) => timestamp.slice(0, 10));

describe("An activity log in words", () => {
  it("says who asked what for when, by which way, and that it was accepted", () => {
    const details = { scheduledTimestamp: time };
    expect(wordsOf({ kind: "COMMIT", outcome: "ACCEPTED", actor: "ada", via: "HTTP", details })).to.deep.equal({
      what: "Commit, for 2026-12-01",
      result: "accepted",
      reason: "",
      who: "ada (HTTP)",
      tone: "neutral",
    });
    const now = { scheduledTimestamp: time, upgradeNow: true };
    expect(wordsOf({ kind: "COMMIT", outcome: "ACCEPTED", details: now }).what).to.equal("Commit, to start now");
    expect(wordsOf({ kind: "CREATE", details: { draft: true } }).what).to.equal("Create, as a draft");
    expect(wordsOf({ kind: "CREATE", details: { draft: false } }).what).to.equal("Create");
  });

  it("says why a request was refused, and how often", () => {
    const refused = { kind: "PAUSE", outcome: "REFUSED", via: "SIGNAL", message: "It is paused already." } as const;
    expect(wordsOf(refused)).to.deep.equal({
      what: "Pause",
      result: "refused",
      reason: "It is paused already.",
      who: "unknown (Signal)",
      tone: "bad",
    });
    expect(wordsOf({ ...refused, repeated: 2 }).result).to.equal("refused 3 times");
  });

  it("names the host and the cluster that failed, and the code where there is no message", () => {
    const host = { kind: "HOST_FAILED", resourceName: "fra1-cl01", hostName: "esx-02" } as const;
    expect(wordsOf({ ...host, errorCode: "HOST_NOT_AT_TARGET" })).to.deep.equal({
      what: "fra1-cl01: host esx-02 failed",
      result: "",
      reason: "HOST_NOT_AT_TARGET",
      who: "",
      tone: "bad",
    });
    const hosts = { total: 4, upgraded: 2, skipped: 1, failed: 1, left: 0 };
    expect(wordsOf({ kind: "RESOURCE_SUCCEEDED", resourceName: "fra1-cl01", details: { hosts } }).what).to.equal(
      "fra1-cl01: done, 3 of 4 hosts at the target, 1 failed",
    );
  });

  it("says how late the work began, and when switchovers are to be", () => {
    expect(wordsOf({ kind: "STARTED", details: { lateSeconds: 90 } }).what).to.equal("Work started, 90 s late");
    const mgmtUpgradePatchSpecs = [{ resourceId: "vc01", startSwitchoverTimestamp: time }];
    expect(wordsOf({ kind: "RESCHEDULE", details: { mgmtUpgradePatchSpecs } }).what).to.equal(
      "Reschedule, switchovers at 2026-12-01",
    );
  });
});
