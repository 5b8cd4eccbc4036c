import { expect } from "chai";
import type { ErrorBody } from "../../../src/domain/errors";
import {
  endsUpgrade,
  notificationErrors,
  notificationsOfPhase,
  type UpgradeNotification,
  wants,
} from "../../../src/domain/notifications/upgrade-notification";
import type { UpgradePhase } from "../../../src/domain/spec/upgrade";

function told(from: UpgradePhase, to: UpgradePhase, about: { errors?: ErrorBody[]; prechecksFailed?: boolean } = {}) {
  const { errors = [], prechecksFailed = false } = about;
  return notificationsOfPhase({ from, to, errors, prechecksFailed });
}

describe("noticesOfPhase", () => {
  it("tells a draft that is ready from one whose prechecks have failed", () => {
    expect(told("DRAFT_PRECHECKS", "DRAFT_WAITING")).to.deep.equal(["upgrade.draft.ready"]);
    expect(told("DRAFT_PRECHECKS", "DRAFT_WAITING", { prechecksFailed: true })).to.deep.equal([
      "upgrade.prechecks.failed",
    ]);
  });

  it("tells a resumption from a beginning", () => {
    expect(told("RUNNING", "PAUSED")).to.deep.equal(["upgrade.paused"]);
    expect(told("PAUSED", "RUNNING")).to.deep.equal(["upgrade.resumed"]);
    for (const from of ["ACCEPTED", "SCHEDULED"] as const) expect(told(from, "RUNNING")).to.deep.equal([]);
  });

  it("tells that prechecks were what an upgrade failed for", () => {
    const failed = (errorCode: string) =>
      told("RUNNING", "FAILED", { errors: [{ errorCode, message: "m" }], prechecksFailed: true });
    expect(failed("PRECHECKS_FAILED")).to.deep.equal(["upgrade.prechecks.failed", "upgrade.failed"]);
    expect(failed("HOST_REMEDIATION_FAILED")).to.deep.equal(["upgrade.failed"]);
  });

  it("tells every end once", () => {
    for (const end of ["SUCCESSFUL", "SUCCESSFUL_WITH_WARNING", "NOTHING_TO_DO"] as const)
      expect(told("RUNNING", end)).to.deep.equal(["upgrade.successful"]);
    expect(told("PAUSED", "CANCELLED")).to.deep.equal(["upgrade.cancelled"]);
  });
});

describe("endsUpgrade", () => {
  it("is what every end does, but no failure that can be retried", () => {
    const ends = (type: UpgradeNotification["type"]) => endsUpgrade({ type });
    expect(ends("upgrade.lost") && ends("upgrade.successful") && ends("upgrade.cancelled")).to.equal(true);
    expect(ends("upgrade.resolved") && ends("upgrade.expired")).to.equal(true);
    expect(ends("upgrade.failed") || ends("upgrade.paused")).to.equal(false);
  });
});

describe("noticeErrors", () => {
  it("keeps what a person needs, of ten errors at most, in a bounded number of words", () => {
    const error: ErrorBody = {
      errorCode: "CLUSTER_BUSY",
      message: "m".repeat(2000),
      remediationMessage: "Wait.",
      context: { resourceId: "r", cluster: "c" },
      nestedErrors: [{ message: "nested" }],
    };
    const kept = notificationErrors(Array.from({ length: 12 }, () => error));
    expect(kept).to.have.length(10);
    expect(kept[0]).to.deep.equal({
      errorCode: "CLUSTER_BUSY",
      message: `${"m".repeat(499)}…`,
      remediationMessage: "Wait.",
      resourceId: "r",
    });
    expect(notificationErrors([{ message: "m" }])).to.deep.equal([{ message: "m" }]);
  });
});

describe("wants", () => {
  it("is everything for a receiver that names no events", () => {
    expect(wants({ id: "a", retryHours: 1 }, "upgrade.paused")).to.equal(true);
    expect(wants({ id: "a", retryHours: 1, events: ["upgrade.failed"] }, "upgrade.paused")).to.equal(false);
  });
});
