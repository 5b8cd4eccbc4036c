import { CancellationScope, CancelledFailure, isCancellation, log } from "@temporalio/workflow";
import type * as t from "io-ts";
import type { RunAgain } from "../activities/contract";
import type { ActivityWaits } from "../src/domain/activity-waits";
import type { AttemptPolicy } from "../src/domain/upgrade-plan";
import { errorOf, isLost, progressOf } from "./activity-failure";
import { waitForLeaseEnd } from "./lost-lease";

/** An Activity that starts long work in a component manager and can attach to it again. */
export interface AttachedActivity<Progress, Result> {
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
 * Runs an attached Activity. Retries after reported failures are the server's. Where it is lost instead (its worker
 * crashed or was stopped), it is scheduled again at once with the attempts that are left and attaches to what still
 * runs. Throws the ActivityFailure of the last attempt, or CancelledFailure where it was brought to a safe end.
 */
export async function runAttached<Progress, Result>(activity: AttachedActivity<Progress, Result>): Promise<Result> {
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
  activity: AttachedActivity<Progress, Result>,
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
  { attempts, reportedFailures }: AttachedActivity<Progress, Result>,
  progress: Progress | undefined,
): AttemptPolicy {
  const used = progress === undefined ? 0 : reportedFailures(progress);
  return { ...attempts, maximumAttempts: Math.max(1, attempts.maximumAttempts - used) };
}
