import type { SubTask, SubTaskStatus, Task, TaskStatus } from "./task";

/** A run of the prechecks: of which upgrade, and the how manieth; the first is 1. */
export interface PrecheckRun {
  readonly upgradeId: string;
  readonly run: number;
}

/** The Task id of a precheck run, under which it can be read like any Task. */
export function precheckTaskId({ upgradeId, run }: PrecheckRun): string {
  return `${upgradeId}-prechecks-${run}`;
}

/** The precheck run that a Task id means; undefined for the Task of an upgrade. */
export function precheckRunOf(taskId: string): PrecheckRun | undefined {
  const [, upgradeId, run] = /^(.+)-prechecks-([1-9]\d{0,5})$/.exec(taskId) ?? [];
  return upgradeId !== undefined && run !== undefined ? { upgradeId, run: Number(run) } : undefined;
}

/** One run of the prechecks as a Task of its own, taken out of its upgrade's; undefined where there is no such run. */
export function precheckTask(task: Task, run: number): Task | undefined {
  const found = (task.subTasks ?? []).filter(({ type }) => type === "PRECHECKS")[run - 1];
  if (!found) return undefined;
  const { name, type, creationTimestamp, completionTimestamp, subTasks, errors, resources } = found;
  return {
    id: precheckTaskId({ upgradeId: task.id, run }),
    name,
    type,
    status: isInterrupted(found, task) ? "Cancelled" : statuses[found.status],
    creationTimestamp,
    ...(completionTimestamp !== undefined && { completionTimestamp }),
    ...(subTasks && { subTasks }),
    ...(errors && { errors }),
    resources: resources ?? task.resources ?? [],
    isCancellable: false,
    isRetryable: false,
  };
}

const statuses: Record<SubTaskStatus, TaskStatus> = {
  PENDING: "Pending",
  IN_PROGRESS: "In Progress",
  SUCCESSFUL: "Successful",
  FAILED: "Failed",
  NOT_APPLICABLE: "SKIPPED",
};

/** Prechecks that a cancellation of the upgrade has cut short, or kept from beginning, have not failed. */
function isInterrupted({ status, errors = [] }: SubTask, { status: upgrade }: Task): boolean {
  if (upgrade !== "Cancelled") return false;
  return (
    status === "NOT_APPLICABLE" || (status === "FAILED" && errors.some((error) => error.errorCode === "CANCELLED"))
  );
}
