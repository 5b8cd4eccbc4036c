import {
  ActivityFailure,
  CancellationScope,
  CancelledFailure,
  isCancellation,
  log,
  sleep,
  TimeoutFailure,
} from "@temporalio/workflow";
import type * as t from "io-ts";
import type { RunAgain } from "../activities/contract";
import type { AttemptPolicy } from "../src/domain/plan/upgrade-plan";
import type { ActivityWaits } from "../src/domain/time-limits";
import { errorOf, isLost, mayStillArrive, progressOf } from "./failures";

/** An Activity that starts long work in a component manager and can attach to it again. */
export interface ResumableActivity<Progress, Result> {
  /** What it works on, for log lines. */
  readonly name: string;
  readonly attempts: AttemptPolicy;
  /** What an earlier call has left, where a freeze has ended it. */
  readonly known?: Progress | undefined;
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
 * runs. Throws the ActivityFailure of the last attempt, or CancelledFailure where it finished safely.
 */
export async function runResumable<Progress, Result>(activity: ResumableActivity<Progress, Result>): Promise<Result> {
  const { name, attempts } = activity;
  const { lostRuns } = activity.waits;
  let progress = activity.known;
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
          throw new CancelledFailure(`${activity.name} finished safely`);
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
    sleep(milliseconds, { summary: "wait until the lease of the lost worker is over" }),
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
