import type { ErrorBody } from "./error-body";
import type { Task } from "./task";
import type { RequestOutcome } from "./upgrade-request";

/** What can be asked of an upgrade: its Signals, and its cancellation. */
export type Request = RequestOutcome["request"] | "cancel";

/** Why an upgrade that has ended takes no request any more. `status` is that of the Upgrade. */
export function endedRefusal(
  request: Request,
  { id, status = "COMPLETED_WITH_FAILURE" }: { readonly id: string; readonly status?: string },
): ErrorBody {
  return {
    errorCode: "REQUEST_NOT_POSSIBLE",
    errorType: "CONFLICT",
    message: `Upgrade ${id} has ended as ${status}, so ${request} is no longer possible.`,
    remediationMessage: "Read its Task to see what was done, and start a new upgrade where more is to be done.",
    context: { status },
  };
}

/**
 * Whether an upgrade that ended before it could be asked has evidently done what a request was for. Its Workflow is
 * not asked any more: that would replay its whole history.
 */
export function endedAsAsked(request: Request, task: Task): boolean {
  const succeeded = ["Successful", "COMPLETED_WITH_WARNING", "SKIPPED"].includes(task.status);
  switch (request) {
    case "commit":
    case "resume":
    case "retry":
      return succeeded;
    case "resolve":
      return task.status === "Failed" && task.resolutionStatus === "RESOLVED";
    case "cancel":
      return task.status === "Cancelled";
    case "pause":
    case "prechecks":
      return false;
  }
}
