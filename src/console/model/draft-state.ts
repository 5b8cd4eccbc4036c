import type { Task } from "../../domain/task";
import type { UpgradeStatus } from "../../domain/upgrade-status";

/** Whether a draft waits for somebody: READY to be committed, or with failed prechecks. Undefined of anything else. */
export function awaitsCommit(status: UpgradeStatus | undefined, task: Task): "READY" | "PRECHECKS_FAILED" | undefined {
  if (status !== "DRAFT") return undefined;
  const latest = (task.subTasks ?? []).filter(({ type }) => type === "PRECHECKS").at(-1);
  if (!latest || latest.status === "PENDING" || latest.status === "IN_PROGRESS") return undefined;
  return latest.status === "FAILED" ? "PRECHECKS_FAILED" : "READY";
}
