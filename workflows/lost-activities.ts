import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowFailure,
  isCancellation,
  log,
  sleep,
  TerminatedFailure,
  TimeoutFailure,
} from "@temporalio/workflow";
import { isRight } from "fp-ts/Either";
import type * as t from "io-ts";
import type { FailureDetails, RunAgain } from "../activities/contract";
import { ErrorBody } from "../src/domain/errors";
import type { AttemptPolicy } from "../src/domain/plan/upgrade-plan";
import { workerShutdown } from "../src/domain/task/host-remediation";
import type { ActivityWaits } from "../src/domain/time-limits";

/** What each time limit of Temporal means to an operator; docs/configuration.md says how each is set. */
const timeLimits: Readonly<Record<string, string>> = {
  HEARTBEAT: "The Activity stopped heartbeating and every retry failed",
  START_TO_CLOSE: "The Activity exceeded the time of one run and every retry failed",
  SCHEDULE_TO_CLOSE: "The Activity did not succeed within the time for all its tries",
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
function isLost(failure: unknown): boolean {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  return (
    (cause instanceof ApplicationFailure && cause.type === workerShutdown) ||
    (cause instanceof TimeoutFailure && (cause.timeoutType === "HEARTBEAT" || cause.timeoutType === "START_TO_CLOSE"))
  );
}

/** Whether something that an Activity has asked for may still take effect, because its worker was stopped. */
function mayStillArrive(failure: unknown): boolean {
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
    remediationMessage: "Look at the failed step in the Temporal Web UI, then retry the upgrade.",
  };
}

/** An Activity that starts long work in a component manager and can attach to it again. */
export interface ResumableActivity<Progress, Result> {
  /** What it works on, for log lines. */
  readonly name: string;
  readonly attempts: AttemptPolicy;
  /** Of the plan: how often the Activity may be lost before its workers are given up. */
  readonly waits: ActivityWaits;
  /** Schedules it with these attempts. `again` is a part of its input: what it has to know of earlier runs. */
  run(attempts: AttemptPolicy, again: RunAgain<Progress>): Promise<Result>;
  /** What it heartbeats, and gives as detail of its failures. */
  readonly progress: t.Decoder<unknown, Progress>;
  /** How many failures a run knew that use up attempts. */
  reportedFailures(progress: Progress): number;
}

/**
 * Runs a resumable Activity. Retries after reported failures are the server's. Where it is lost instead (its worker
 * crashed or was stopped), it is scheduled again at once with the attempts that are left and attaches to what still
 * runs. Throws the ActivityFailure of the last attempt, or CancelledFailure where it was brought to a safe end.
 */
export async function runResumable<Progress, Result>(activity: ResumableActivity<Progress, Result>): Promise<Result> {
  const { name, attempts } = activity;
  const { lostRuns } = activity.waits;
  let progress: Progress | undefined;
  for (let losses = 0; ; losses++) {
    try {
      return await activity.run(attemptsLeft(activity, progress), runAgain(progress));
    } catch (failure) {
      await waitForLeaseEnd(failure, activity.waits);
      const lost = isLost(failure);
      if (lost) progress = progressOf(failure, activity.progress) ?? progress;
      // The server itself cancels an Activity that waits for a worker or for its next attempt: nothing has then looked
      // after what an earlier run may have left running.
      const mayRun = losses > 0 || attempts.maximumAttempts > 1;
      const unattended = isCancellation(failure) && mayRun;
      if (CancellationScope.current().consideredCancelled && (lost || unattended))
        return stopSafely(activity, progress);
      if (!lost || losses >= lostRuns) throw failure;
      log.info("An Activity was lost with its worker and is scheduled again", { name });
    }
  }
}

function stopSafely<Progress, Result>(
  activity: ResumableActivity<Progress, Result>,
  known: Progress | undefined,
): Promise<Result> {
  const { lostRuns } = activity.waits;
  return CancellationScope.nonCancellable(async () => {
    let progress = known;
    for (let losses = 0; ; losses++) {
      try {
        const again = { ...runAgain(progress), stop: true as const };
        return await activity.run(attemptsLeft(activity, progress), again);
      } catch (failure) {
        await waitForLeaseEnd(failure, activity.waits);
        // An Activity that Temporal has not cancelled cannot end as cancelled; it says so in its error.
        if (isCancellation(failure) || errorOf(failure).errorCode === "CANCELLED") {
          throw new CancelledFailure(`${activity.name} was brought to a safe end`);
        }
        if (!isLost(failure) || losses >= lostRuns) throw failure;
        progress = progressOf(failure, activity.progress) ?? progress;
      }
    }
  });
}

function runAgain<Progress>(resume: Progress | undefined): RunAgain<Progress> {
  return resume === undefined ? {} : { resume };
}

function attemptsLeft<Progress, Result>(
  { attempts, reportedFailures }: ResumableActivity<Progress, Result>,
  progress: Progress | undefined,
): AttemptPolicy {
  const used = progress === undefined ? 0 : reportedFailures(progress);
  return { ...attempts, maximumAttempts: Math.max(1, attempts.maximumAttempts - used) };
}

/**
 * Runs an idempotent Activity again where it was lost with its worker: that is no attempt of the operator's. What may
 * still act on its behalf is waited out before, also where it is not run again. Throws its failure where it is lost too often.
 */
export async function retryWhileLost<T>(waits: ActivityWaits, run: () => Promise<T>): Promise<T> {
  const { lostRuns } = waits;
  for (let losses = 0; ; losses++) {
    try {
      return await run();
    } catch (failure) {
      await waitForLeaseEnd(failure, waits);
      const { consideredCancelled } = CancellationScope.current();
      if (!isLost(failure) || consideredCancelled || losses >= lostRuns) throw failure;
    }
  }
}

/**
 * After an Activity that Temporal has given up by a time limit: waits until its worker, which may be frozen or cut off, can
 * change nothing any more in a component manager. Only then is it run again or its end told, also after a cancellation.
 * A worker that is stopped does not wait for what it has asked for; it says so, and it is waited for here. After any other
 * failure there is nothing to wait for: the Activity has ended in its worker.
 */
async function waitForLeaseEnd(failure: unknown, waits: ActivityWaits): Promise<void> {
  const milliseconds = timeToAct(failure, waits);
  if (milliseconds <= 0) return;
  await CancellationScope.nonCancellable(() =>
    sleep(milliseconds, { summary: "until a lost worker can change nothing" }),
  );
}

/** Milliseconds in which it may still send a change that its lease allows, and then in which that may arrive. */
function timeToAct(failure: unknown, waits: ActivityWaits): number {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  const { heartbeatSeconds, callSeconds } = waits;
  if (mayStillArrive(failure)) return callSeconds * 1000;
  if (!(cause instanceof TimeoutFailure)) return 0;
  // The lease is shorter than the time after which the server misses a heartbeat.
  const leaseSeconds = cause.timeoutType === "HEARTBEAT" ? 0 : heartbeatSeconds;
  return (leaseSeconds + callSeconds) * 1000;
}
