import type * as t from "io-ts";
import { OneOf } from "./codec";
import type { TaskStatus } from "./task";

/** The values of `Upgrade.status`, which the specification does not list (docs/spec-gaps.md). */
export const UpgradeStatus = OneOf(
  "PENDING",
  "DRAFT",
  "SCHEDULED",
  "INPROGRESS",
  "PAUSED",
  "COMPLETED_WITH_SUCCESS",
  "COMPLETED_WITH_FAILURE",
  "CANCELLED",
);
export type UpgradeStatus = t.TypeOf<typeof UpgradeStatus>;

/** Where an upgrade is in its life. Each phase has exactly one pair of statuses ({@link statusOfPhase}). */
export type UpgradePhase =
  | "ACCEPTED"
  | "DRAFT_ACCEPTED"
  | "DRAFT_PRECHECKS"
  | "DRAFT_WAITING"
  | "SCHEDULED"
  /** It was not begun at its time, and now waits for a commit. */
  | "START_MISSED"
  | "RUNNING"
  | "PAUSED"
  | "SUCCESSFUL"
  | "SUCCESSFUL_WITH_WARNING"
  | "NOTHING_TO_DO"
  | "FAILED"
  | "CANCELLED";

interface Statuses {
  readonly task: TaskStatus;
  readonly upgrade: UpgradeStatus;
}

const statuses: Record<UpgradePhase, Statuses> = {
  ACCEPTED: { task: "Pending", upgrade: "PENDING" },
  DRAFT_ACCEPTED: { task: "Pending", upgrade: "DRAFT" },
  DRAFT_PRECHECKS: { task: "In Progress", upgrade: "DRAFT" },
  DRAFT_WAITING: { task: "Pending", upgrade: "DRAFT" },
  SCHEDULED: { task: "Pending", upgrade: "SCHEDULED" },
  START_MISSED: { task: "Pending", upgrade: "SCHEDULED" },
  RUNNING: { task: "In Progress", upgrade: "INPROGRESS" },
  PAUSED: { task: "In Progress", upgrade: "PAUSED" },
  SUCCESSFUL: { task: "Successful", upgrade: "COMPLETED_WITH_SUCCESS" },
  SUCCESSFUL_WITH_WARNING: { task: "COMPLETED_WITH_WARNING", upgrade: "COMPLETED_WITH_SUCCESS" },
  NOTHING_TO_DO: { task: "SKIPPED", upgrade: "COMPLETED_WITH_SUCCESS" },
  FAILED: { task: "Failed", upgrade: "COMPLETED_WITH_FAILURE" },
  CANCELLED: { task: "Cancelled", upgrade: "CANCELLED" },
};

/** `Task.status` and `Upgrade.status` of a phase, so that the two can never disagree. */
export function statusOfPhase(phase: UpgradePhase): Statuses {
  return statuses[phase];
}

const ended: ReadonlySet<UpgradePhase> = new Set([
  "SUCCESSFUL",
  "SUCCESSFUL_WITH_WARNING",
  "NOTHING_TO_DO",
  "FAILED",
  "CANCELLED",
]);

/** Whether work has ended in this phase. A FAILED upgrade may still be retried; the others are final. */
export function hasEnded(phase: UpgradePhase): boolean {
  return ended.has(phase);
}
