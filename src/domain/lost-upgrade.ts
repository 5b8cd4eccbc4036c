import type { ErrorBody } from "./error-body";
import type { Task } from "./task";
import { applyProgress } from "./task-progress";
import { toEpochMilliseconds } from "./timestamp";
import type { Upgrade } from "./upgrade";

/** How a Workflow can end without having said so itself. */
export type LostBecause = "TERMINATED" | "TIMED_OUT" | "FAILED";

const because: Record<LostBecause, string> = {
  TERMINATED: "was terminated in Temporal",
  TIMED_OUT: "exceeded its time limit in Temporal",
  FAILED: "failed in an unforeseen way",
};

/** Whether a Task says of itself that it has ended. */
export function hasTaskEnded(task: Pick<Task, "status">): boolean {
  return !["PENDING", "Pending", "IN_PROGRESS", "In Progress"].includes(task.status);
}

/** What is wrong with an upgrade whose Workflow ended without a word. */
export function lostError(reason: LostBecause): ErrorBody {
  return {
    errorCode: "UPGRADE_LOST",
    errorType: "INTERNAL",
    message: `The Workflow of this upgrade ${because[reason]}; its resources may be in any state.`,
    remediationMessage: "Check hosts and settings of its clusters in the component managers, then start a new upgrade.",
  };
}

/** The Task of an upgrade whose Workflow ended at `at` without a word: failed, and past retrying. */
export function lostTask(task: Task, reason: LostBecause, at: string): Task {
  const failed = applyProgress(task, { type: "PhaseEntered", phase: "FAILED", errors: [lostError(reason)], at });
  return { ...failed, isRetryable: false };
}

/** The Upgrade of such a Workflow. */
export function lostUpgrade(upgrade: Upgrade, at: string): Upgrade {
  return { ...upgrade, status: "COMPLETED_WITH_FAILURE", endTime: toEpochMilliseconds(at) };
}
