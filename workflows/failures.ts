import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  TerminatedFailure,
  TimeoutFailure,
} from "@temporalio/workflow";
import { isRight } from "fp-ts/Either";
import type * as t from "io-ts";
import type { FailureDetails } from "../activities/contract";
import { ErrorBody } from "../src/domain/errors";
import { isClosed } from "../src/domain/opening";
import { workerShutdown } from "../src/domain/task/host-remediation";

/** What each time limit of Temporal means to an operator; docs/configuration.md says how each is set. */
const timeLimits: Readonly<Record<string, string>> = {
  HEARTBEAT: "The Activity stopped heartbeating and every retry failed",
  START_TO_CLOSE: "The Activity exceeded the time limit of a run and every retry failed",
  SCHEDULE_TO_CLOSE: "The Activity did not succeed within its total time limit",
};

/** What an operator is told of a failed Activity: the error it reported, or what happened to it. */
export function errorOf(failure: unknown): ErrorBody {
  const cause = failure instanceof ActivityFailure ? failure.cause : failure;
  if (cause instanceof ApplicationFailure) {
    const reported = ErrorBody.decode(detailsOf(cause)?.error);
    if (isRight(reported)) return reported.right;
    return unforeseen(cause.message, cause.type ?? undefined);
  }
  if (cause instanceof TimeoutFailure) {
    return {
      errorCode: "ACTIVITY_TIMED_OUT",
      errorType: "FAILED_DEPENDENCY",
      message: `${timeLimits[cause.timeoutType ?? ""] ?? "The Activity exceeded its time limit"} (${cause.timeoutType}).`,
      remediationMessage: "Check that workers are running and that the component manager answers, then retry.",
    };
  }
  return unforeseen(cause instanceof Error ? cause.message : String(cause));
}

/** Whether an Activity ended without an answer of its own, because its worker did; it is to be scheduled again. */
export function isLost(failure: unknown): boolean {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  return (
    (cause instanceof ApplicationFailure && cause.type === workerShutdown) ||
    (cause instanceof TimeoutFailure && (cause.timeoutType === "HEARTBEAT" || cause.timeoutType === "START_TO_CLOSE"))
  );
}

/** Why an Activity was not allowed to begin something; undefined where that is not why it failed. */
export function closureIn(failure: unknown): ErrorBody | undefined {
  if (!(failure instanceof ActivityFailure)) return undefined;
  const error = errorOf(failure);
  return isClosed(error) ? error : undefined;
}

/** Whether something that an Activity has asked for may still take effect, because its worker was stopped. */
export function mayStillArrive(failure: unknown): boolean {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  return cause instanceof ApplicationFailure && detailsOf(cause)?.mayStillArrive === true;
}

/** What an Activity knew when it failed or was lost; undefined where it did not say. */
export function progressOf<P>(failure: unknown, progress: t.Decoder<unknown, P>): P | undefined {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  const detail: unknown =
    cause instanceof ApplicationFailure
      ? detailsOf(cause)?.progress
      : cause instanceof TimeoutFailure
        ? cause.lastHeartbeatDetails
        : undefined;
  const decoded = progress.decode(detail);
  return isRight(decoded) ? decoded.right : undefined;
}

/** The details of a failed child's own failure; undefined where it was cancelled, terminated or timed out. */
export function childFailureDetail(failure: unknown): unknown {
  const cause = failure instanceof ChildWorkflowFailure ? failure.cause : undefined;
  return cause instanceof ApplicationFailure ? cause.details?.[0] : undefined;
}

/** Whether a child ended because it, and not its upgrade, was cancelled. */
export function childWasCancelled(failure: unknown): boolean {
  return failure instanceof ChildWorkflowFailure && failure.cause instanceof CancelledFailure;
}

/** How a child ended that gave no result, as the end of a sentence about its Workflow. */
export function childEndOf(failure: unknown): string {
  const cause = failure instanceof ChildWorkflowFailure ? failure.cause : failure;
  if (cause instanceof TerminatedFailure) return "was terminated in Temporal";
  if (cause instanceof TimeoutFailure) return "exceeded its time limit in Temporal";
  return `ended without a result (${cause instanceof Error ? cause.message : String(cause)})`;
}

function detailsOf(failure: ApplicationFailure): Partial<FailureDetails> | undefined {
  const detail: unknown = failure.details?.[0];
  return typeof detail === "object" && detail !== null ? detail : undefined;
}

function unforeseen(message: string, errorCode = "UNEXPECTED"): ErrorBody {
  return {
    errorCode,
    errorType: "INTERNAL",
    message,
    remediationMessage: "Check the failed step in the Temporal Web UI, then retry the upgrade.",
  };
}
