import type { Task, TaskStatus } from "../../domain/task";
import type { UpgradeStatus } from "../../domain/upgrade-status";

const endings: Partial<Record<TaskStatus, UpgradeStatus>> = {
  Successful: "COMPLETED_WITH_SUCCESS",
  COMPLETED_WITH_WARNING: "COMPLETED_WITH_SUCCESS",
  SKIPPED: "COMPLETED_WITH_SUCCESS",
  Failed: "COMPLETED_WITH_FAILURE",
  Cancelled: "CANCELLED",
};

/**
 * The status of an upgrade. Its Task comes as events, its own status is read now and then, so where the two disagree the
 * Task is the newer one; only what a Task does not tell (draft, scheduled) is taken as it was read.
 */
export function knownStatus(read: UpgradeStatus | undefined, task: Task): UpgradeStatus | undefined {
  const ending = endings[task.status];
  if (ending) return ending;
  if (task.localizableDescriptionPack?.messageKey === "upgrade.task.paused") return "PAUSED";
  if (task.status === "In Progress") return read === "DRAFT" ? "DRAFT" : "INPROGRESS";
  return read === "DRAFT" || read === "SCHEDULED" ? read : "PENDING";
}
