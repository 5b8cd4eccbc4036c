import { expect } from "chai";
import { hasEnded, statusOfPhase, type UpgradePhase, UpgradeStatus } from "../../../src/domain/spec/upgrade";
import { hasTaskEnded } from "../../../src/domain/task/lost-upgrade";

/** The table of docs/spec-gaps.md: Task.status, Upgrade.status, whether work has ended. */
const table: Readonly<Record<UpgradePhase, readonly [task: string, upgrade: string, ended: boolean]>> = {
  ACCEPTED: ["Pending", "PENDING", false],
  DRAFT_ACCEPTED: ["Pending", "DRAFT", false],
  DRAFT_PRECHECKS: ["In Progress", "DRAFT", false],
  DRAFT_WAITING: ["Pending", "DRAFT", false],
  SCHEDULED: ["Pending", "SCHEDULED", false],
  START_MISSED: ["Pending", "SCHEDULED", false],
  RUNNING: ["In Progress", "INPROGRESS", false],
  PAUSED: ["In Progress", "PAUSED", false],
  SUCCESSFUL: ["Successful", "COMPLETED_WITH_SUCCESS", true],
  SUCCESSFUL_WITH_WARNING: ["COMPLETED_WITH_WARNING", "COMPLETED_WITH_SUCCESS", true],
  NOTHING_TO_DO: ["SKIPPED", "COMPLETED_WITH_SUCCESS", true],
  FAILED: ["Failed", "COMPLETED_WITH_FAILURE", true],
  CANCELLED: ["Cancelled", "CANCELLED", true],
};

describe("statusOfPhase", () => {
  for (const [phase, [task, upgrade, ended]] of Object.entries(table) as [UpgradePhase, [string, string, boolean]][]) {
    it(`${phase} is ${task} of the Task and ${upgrade} of the Upgrade`, () => {
      const statuses = statusOfPhase(phase);
      expect(statuses).to.deep.equal({ task, upgrade });
      expect(hasEnded(phase)).to.equal(ended);
      expect(hasTaskEnded({ status: statuses.task }), "the Task alone says the same").to.equal(ended);
    });
  }

  it("uses every value that clients can filter by", () => {
    const used = new Set(Object.values(table).map(([, upgrade]) => upgrade));
    expect([...used]).to.have.members(Object.keys(UpgradeStatus.keys));
  });
});
