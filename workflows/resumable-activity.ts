import { CancellationScope, CancelledFailure, isCancellation, log, type ActivityOptions } from "@temporalio/workflow";
import type * as t from "io-ts";
import type { AttemptPolicy } from "../src/domain/upgrade-plan";
import { errorOf, isLostActivity, progressDetail } from "./activity-failure";
import { changeOptions } from "./retry-policy";

/** How often one Activity may be lost before its workers are given up: hours of crash loops. */
const maximumLosses = 200;

/** Input of an Activity that counts its attempts itself, goes on after a loss, and can be told to stop. */
interface Resumable<P> {
  readonly attempts: AttemptPolicy;
  readonly resume?: P;
  readonly stop?: boolean;
}

interface ResumableActivity<I, P, R> {
  readonly input: I;
  /** What the Activity heartbeats and gives as detail of its failures. */
  readonly progress: t.Decoder<unknown, P>;
  /** What it works on, for the log. */
  readonly name: string;
  run(input: I, options: ActivityOptions): Promise<R>;
}

/**
 * Runs an Activity that changes something. Retries after reported failures are the server's, by the Activity's own
 * retry policy. Where the Activity is lost instead (its worker crashed or was stopped), it is scheduled again at once
 * with the attempts that are left, and goes on from what the lost run knew. Throws the ActivityFailure of the last
 * attempt.
 */
export async function runResumable<P extends { readonly reportedFailures: number }, I extends Resumable<P>, R>(
  activity: ResumableActivity<I, P, R>,
): Promise<R> {
  const { input, name } = activity;
  let progress: P | undefined;
  for (let losses = 0; ; losses++) {
    try {
      return await runOnce(activity, { ...input, ...(progress && { resume: progress }) });
    } catch (failure) {
      const lost = isLostActivity(failure);
      if (lost) progress = progressDetail(failure, activity.progress) ?? progress;
      // The server itself cancels an Activity that waits for a worker or for its next attempt: nothing has then looked
      // after what an earlier run may have left running.
      const unattended = isCancellation(failure) && (losses > 0 || input.attempts.maximumAttempts > 1);
      if (CancellationScope.current().consideredCancelled && (lost || unattended)) {
        return await stopSafely(activity, { ...input, ...(progress && { resume: progress }) });
      }
      if (!lost || losses >= maximumLosses) throw failure;
      log.info("An Activity was lost with its worker and is scheduled again", { name });
    }
  }
}

/**
 * The upgrade was cancelled while nothing looked after what may still run: it is brought to an end. Throws
 * CancelledFailure where that end is safe and not what the Activity was for.
 */
function stopSafely<P extends { readonly reportedFailures: number }, I extends Resumable<P>, R>(
  activity: ResumableActivity<I, P, R>,
  input: I,
): Promise<R> {
  return CancellationScope.nonCancellable(async () => {
    let { resume } = input;
    for (let losses = 0; ; losses++) {
      try {
        return await runOnce(activity, { ...input, ...(resume && { resume }), stop: true });
      } catch (failure) {
        if (wasStopped(failure)) throw new CancelledFailure(`${activity.name} was brought to a safe end`);
        if (!isLostActivity(failure) || losses >= maximumLosses) throw failure;
        resume = progressDetail(failure, activity.progress) ?? resume;
      }
    }
  });
}

/** An Activity that Temporal has not cancelled cannot end as cancelled; it says so in its error. */
function wasStopped(failure: unknown): boolean {
  return isCancellation(failure) || errorOf(failure).errorCode === "CANCELLED";
}

function runOnce<P extends { readonly reportedFailures: number }, I extends Resumable<P>, R>(
  { run }: ResumableActivity<I, P, R>,
  input: I,
): Promise<R> {
  const { attempts, resume } = input;
  const left = Math.max(1, attempts.maximumAttempts - (resume?.reportedFailures ?? 0));
  return run(input, changeOptions({ ...attempts, maximumAttempts: left }));
}
