import { expect } from "chai";
import { exactTime } from "../../../src/console/model/local-time";
import { consequencesOf } from "../../../src/console/model/operations";
import type { Upgrade } from "../../../src/domain/spec/upgrade";
import { cluster, doneHost, failedHost, runningHost, task, waitingHost } from "./console-task";

const upgrade: Upgrade = {
  id: "u1",
  status: "INPROGRESS",
  bundle: { id: "b", version: "9.0.2" },
  resourceUpgradeSpecs: [{ resourceId: "cl01" }, { resourceId: "cl02" }],
};
const halfWay = task([
  cluster("IN_PROGRESS", [doneHost("a", 0, 9), runningHost("b", 9), waitingHost("c")], "cl01"),
  cluster("PENDING", [waitingHost("d")], "cl02"),
]);
const scheduled: Upgrade = {
  ...upgrade,
  status: "SCHEDULED",
  resourceUpgradeSpecs: [
    { resourceId: "cl01", scheduledTimestamp: "2026-12-02T03:00:00.000Z" },
    { resourceId: "cl02", scheduledTimestamp: "2026-12-01T03:00:00.000Z" },
  ],
};
const untouched = task([cluster("PENDING", undefined, "cl01"), cluster("PENDING", undefined, "cl02")]);

describe("what the console says before something is confirmed", () => {
  it("names the hosts in work and counts those that are left", () => {
    const { pause, cancel } = consequencesOf(upgrade, halfWay);
    expect(pause).to.deep.equal([
      "b is finished first, with the remaining retries.",
      "2 hosts will not start until you resume.",
    ]);
    expect(cancel).to.deep.equal([
      "b is finished safely first, so this may take a while.",
      "1 host done stays at 9.0.2.",
      "2 hosts not done will not be upgraded.",
      "A cancelled upgrade cannot be resumed.",
    ]);
  });

  it("names clusters, target and schedule of a commit, the earliest time first", () => {
    expect(consequencesOf(upgrade, untouched).commit.join(" ")).to.contain("cl01 and cl02").and.contain("immediately");
    const { commit, reschedule } = consequencesOf(scheduled, untouched);
    const schedule = [
      `cl02 at ${exactTime(Date.parse("2026-12-01T03:00:00Z"))}.`,
      `cl01 at ${exactTime(Date.parse("2026-12-02T03:00:00Z"))}.`,
    ];
    expect(commit.slice(-2)).to.deep.equal(schedule);
    expect(reschedule.slice(-2)).to.deep.equal(schedule);
  });

  it("says of a commit that was waited for that the work starts immediately", () => {
    const waitingFor = { code: "COMMIT" as const, message: "Its time has passed." };
    expect(consequencesOf(scheduled, { ...untouched, waitingFor }).commit.join(" ")).to.contain("starts immediately");
  });

  it("says of a retry what is tried and what is not, also where no host has begun", () => {
    const failed = task([cluster("FAILED", [doneHost("a", 0, 9), failedHost("b", 9, "no"), waitingHost("c")], "cl01")]);
    expect(consequencesOf(upgrade, failed).retry.join(" "))
      .to.contain("1 failed host and 1 host not started in cl01 and cl02")
      .and.contain("1 host already done will not be upgraded again");
    expect(consequencesOf(upgrade, untouched).retry.join(" ")).to.contain("from the beginning");
  });

  it("says that nothing has been touched where that is so", () => {
    expect(consequencesOf({ ...upgrade, status: "DRAFT" }, untouched).cancel.join()).to.contain("No host has been");
    expect(consequencesOf(scheduled, untouched).cancel.join()).to.contain("No host has been touched so far");
  });
});
