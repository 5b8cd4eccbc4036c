import { CancellationScope, CancelledFailure, isCancellation, log } from "@temporalio/workflow";
import type * as t from "io-ts";
import type { AttemptPolicy } from "../src/domain/upgrade-plan";
import { errorOf, isLost, progressOf } from "./activity-failure";

/** How often such an Activity may be lost before its workers are given up: hours of crash loops. */
const maximumLosses = 200;

/** An Activity that starts long work in a component manager and can attach to it again. */
export interface AttachedActivity<Progress extends { readonly reportedFailures: number }, Result> {
  /** What it works on, for log lines. */
  readonly name: string;
  readonly attempts: AttemptPolicy;
  /**
   * Schedules it with these attempts. `resume`: what an earlier run knew; `stop`: the upgrade was cancelled, so what
   * runs is brought to a safe end and nothing is started.
   */
  run(attempts: AttemptPolicy, resume: Progress | undefined, stop: boolean): Promise<Result>;
  /** What it heartbeats, and gives as detail of its failures. */
  readonly progress: t.Decoder<unknown, Progress>;
}

/**
 * Runs an attached Activity. Retries after reported failures are the server's. Where it is lost instead (its worker
 * crashed or was stopped), it is scheduled again at once with the attempts that are left and attaches to what still
 * runs. Throws the ActivityFailure of the last attempt, or CancelledFailure where it was brought to a safe end.
 */
export async function runAttached<Progress extends { readonly reportedFailures: number }, Result>(
  activity: AttachedActivity<Progress, Result>,
): Promise<Result> {
  const { name, attempts } = activity;
  let progress: Progress | undefined;
  for (let losses = 0; ; losses++) {
    try {
      return await activity.run(attemptsLeft(attempts, progress), progress, false);
    } catch (failure) {
      const lost = isLost(failure);
      if (lost) progress = progressOf(failure, activity.progress) ?? progress;
      // The server itself cancels an Activity that waits for a worker or for its next attempt: nothing has then looked
      // after what an earlier run may have left running.
      const unattended = isCancellation(failure) && (losses > 0 || attempts.maximumAttempts > 1);
      if (CancellationScope.current().consideredCancelled && (lost || unattended))
        return stopSafely(activity, progress);
      if (!lost || losses >= maximumLosses) throw failure;
      log.info("An Activity was lost with its worker and is scheduled again", { name });
    }
  }
}

function stopSafely<Progress extends { readonly reportedFailures: number }, Result>(
  activity: AttachedActivity<Progress, Result>,
  known: Progress | undefined,
): Promise<Result> {
  return CancellationScope.nonCancellable(async () => {
    let progress = known;
    for (let losses = 0; ; losses++) {
      try {
        return await activity.run(attemptsLeft(activity.attempts, progress), progress, true);
      } catch (failure) {
        // An Activity that Temporal has not cancelled cannot end as cancelled; it says so in its error.
        if (isCancellation(failure) || errorOf(failure).errorCode === "CANCELLED") {
          throw new CancelledFailure(`${activity.name} was brought to a safe end`);
        }
        if (!isLost(failure) || losses >= maximumLosses) throw failure;
        progress = progressOf(failure, activity.progress) ?? progress;
      }
    }
  });
}

function attemptsLeft(attempts: AttemptPolicy, progress: { readonly reportedFailures: number } | undefined) {
  return { ...attempts, maximumAttempts: Math.max(1, attempts.maximumAttempts - (progress?.reportedFailures ?? 0)) };
}
