import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import { ActivityAges } from "./activity-age";
import type { ActivityLimits } from "./activity-limits";
import { ActivityLease, answeredHeartbeat, type HeartbeatAnswer } from "./activity-lease";
import { slowestTry } from "./drivers/component-manager-access";
import { DriverError, isBusy, isNotFound } from "./drivers/driver-error";
import { LeaseEndedError, withLease } from "./drivers/lease";
import { type FailureContext, failureOf, type FailureOptions, closedFailure, workerShutdownFailure } from "./failures";
import { ClosureError } from "./closure-check";
import { createRetryPolicy, type RetryBounds, type RetryHooks, type RetryPolicy } from "./retry-policy";
import type { PrecheckOptions } from "./precheck-contract";
import type { WorkStage } from "./work-stage";

/**
 * Between two signs of life, in milliseconds, where a worker does little. Well below any heartbeat timeout (HEARTBEAT_SECONDS is
 * at least 5), so that no single call or wait looks like a lost worker.
 */
const heartbeatEvery = 2_000;

/** Signs of life that a worker gives in a second, where it can help it: Temporal writes each to its database. */
const heartbeatsPerSecond = 100;

/** For how long the Activities of this worker have been tried. */
const ages = new ActivityAges();

/** How many Activities this worker runs. */
let running = 0;

/** The longest time between two signs of life, as a share of the heartbeat timeout: two come before it is over. */
const longestSilence = 0.4;

/**
 * Milliseconds to the next sign of life of one of so many Activities: longer the more give them, but soon enough for two
 * before the timeout (docs/decisions/0030).
 */
export function untilHeartbeat(activities: number, heartbeatTimeout: number | undefined): number {
  const shared = (activities / heartbeatsPerSecond) * 1000;
  return Math.max(heartbeatEvery, Math.min(shared, (heartbeatTimeout ?? 0) * longestSilence));
}

/**
 * Whoever comes so much later than at the planned time has too much to do (milliseconds): with the usual two seconds that
 * is half of what the server waits for.
 */
const lateHeartbeat = 5_500;

/** Why an Activity is to stop. Only STOP_REQUESTED is a wish of the upgrade; after the others it is run again or gone. */
type StopReason = "WORKER_SHUTDOWN" | "STOP_REQUESTED" | "OTHER";

/** Why the current Activity is to stop; undefined where it is not. A later shutdown overrides an earlier cancellation. */
export function stopReason(): StopReason | undefined {
  const { cancellationSignal, cancellationDetails } = Context.current();
  if (!cancellationSignal.aborted) return undefined;
  const reason: unknown = cancellationSignal.reason;
  const name = reason instanceof Error ? reason.message : undefined;
  if (name === "WORKER_SHUTDOWN" || cancellationDetails?.workerShutdown) return "WORKER_SHUTDOWN";
  return name === "CANCELLED" || cancellationDetails?.cancelRequested ? "STOP_REQUESTED" : "OTHER";
}

/** The upgrade was cancelled, and nothing has begun, or runs any more, that has to be brought to its end. */
export class CancelledBeforeStart extends Error {}

/** The failure with which the SDK knows a stopped Activity. */
export function cancelledFailure(): CancelledFailure {
  const reason: unknown = Context.current().cancellationSignal.reason;
  return reason instanceof CancelledFailure ? reason : new CancelledFailure("CANCELLED");
}

/**
 * RetryPolicy of the current Activity: ends at once when the Activity is to stop for whatever reason. Activities after the
 * prechecks are in work.
 */
export function activityRetryPolicy(
  bounds: RetryBounds,
  onTrouble?: RetryHooks["onTrouble"],
  stage: WorkStage = "IN_WORK",
): RetryPolicy {
  return createRetryPolicy(bounds, {
    stage,
    signal: Context.current().cancellationSignal,
    interruption: () => (stopReason() ? cancelledFailure() : undefined),
    ...(onTrouble && { onTrouble }),
  });
}

/** RetryPolicy for what must be brought to an end although the upgrade was cancelled; only a lost worker ends it. */
export function endingRetryPolicy(bounds: RetryBounds, onTrouble?: RetryHooks["onTrouble"]): RetryPolicy {
  return createRetryPolicy(bounds, {
    stage: "IN_WORK",
    interruption: endedWithoutAWish,
    ...(onTrouble && { onTrouble }),
  });
}

/** What ends whatever the current Activity does, but not its taking back of what it has changed: a wish does not. */
function endedWithoutAWish(): CancelledFailure | undefined {
  const reason = stopReason();
  return reason === undefined || reason === "STOP_REQUESTED" ? undefined : cancelledFailure();
}

/** RetryPolicy of prechecks: at the first contact of an upgrade, or between two of its products. */
export function precheckRetryPolicy(limits: ActivityLimits, { stage = "FIRST_CONTACT" }: PrecheckOptions): RetryPolicy {
  return activityRetryPolicy(shortBounds(limits), undefined, stage);
}

/**
 * Whether a check failed because of an outage in work rather than because of what it found. Temporal then tries the Activity
 * again, for as long as an outage may last.
 */
export function isOutage({ stage }: RetryPolicy, limits: Pick<ActivityLimits, "outage">, error: unknown): boolean {
  const mayPass = error instanceof DriverError && error.kind === "transient" && !isBusy(error);
  return stage === "IN_WORK" && mayPass && !hasLastedAnOutage(limits);
}

/** Whether the current Activity, with all its runs, has been tried for as long as an outage may last. */
export function hasLastedAnOutage({ outage }: Pick<ActivityLimits, "outage">): boolean {
  return timeOfAllRuns() >= outage;
}

/** For how long the current Activity has been tried, with all its runs, in milliseconds. */
export function timeOfAllRuns(): number {
  return ages.of(Context.current().info);
}

/** How Temporal retries a short Activity: at once, but slowly where retries could lock an account. */
export function pacedRetry(error: unknown): FailureOptions {
  const isRefused = error instanceof DriverError && error.kind === "transient" && error.inWork === "CREDENTIALS";
  return isRefused ? { retryDelay: slowestTry } : {};
}

/**
 * How Temporal retries a restore. Giving up would leave a change behind, and most refusals (a full disk) can be put right. But
 * refused credentials are tried slowly, and neither they nor a missing resource are tried for longer than an outage may last:
 * after that the account is locked or wrong, and the cluster deleted.
 */
export function restoreRetry(limits: Pick<ActivityLimits, "outage">, error: unknown): FailureOptions {
  if (!(error instanceof DriverError)) return { retryable: true };
  if (isNotFound(error)) return { retryable: false };
  const isHopeless = error.inWork === "CREDENTIALS" || error.code === "RESOURCE_NOT_FOUND";
  return { ...pacedRetry(error), retryable: !isHopeless || !hasLastedAnOutage(limits) };
}

/** How long one run of the current Activity may take by Temporal, in milliseconds. */
export function timeOfRun(): number {
  return Context.current().info.startToCloseTimeoutMs;
}

/**
 * Bounds for what is short or asked again by Temporal, whatever is allowed elsewhere. They leave time for a last call and for
 * a lost one to arrive, so that it is told what was waited for rather than that the time was over.
 */
export function shortBounds({ outage, operationBusy, answer, callTimeout, poll, clock }: ActivityLimits): RetryBounds {
  const run = timeOfRun();
  const longest = Math.min(answer, Math.max(run - 2 * callTimeout, run / 2));
  return {
    outage: Math.min(outage, longest),
    operationBusy: Math.min(operationBusy, longest),
    poll,
    clock,
  };
}

interface RunOptions {
  readonly context: FailureContext;
  /** The upgrade, for the log; where it is not given, the worker adds it from the headers of the Activity. */
  readonly upgradeId?: string | undefined;
  /** The heartbeat details; asked for every few seconds. Absent where there is nothing to tell. */
  heartbeat?(): unknown;
  /** How Temporal treats a failure of this Activity. */
  failure?(error: unknown): FailureOptions;
}

/**
 * Runs an Activity's body with steady heartbeats, none of them before there is something to tell or the first is due
 * (docs/decisions/0030), and turns its errors into the failures of the contract. The body gets a function that heartbeats
 * at once, for what must not wait. It may change component managers while its lease lasts, and nothing of it may once
 * it has ended (docs/decisions/0037).
 */
export async function runActivity<A>(
  { context, upgradeId, heartbeat, failure }: RunOptions,
  body: (beat: () => void) => Promise<A>,
): Promise<A> {
  const activity = Context.current();
  ages.see(activity.info);
  const beat = () => activity.heartbeat(heartbeat?.());
  const { heartbeatTimeoutMs } = activity.info;
  const nextTick = () => {
    const wait = untilHeartbeat(running, heartbeatTimeoutMs);
    const due = performance.now() + wait;
    return setTimeout(() => {
      const late = performance.now() - due;
      if (late > lateHeartbeat) tellLateHeartbeat(activity, late + wait);
      beat();
      ticker = nextTick();
    }, wait);
  };
  const lease = leaseOf(heartbeatTimeoutMs, () => {
    // Through the SDK as well: what it has not sent yet would come later and say less.
    beat();
    return answeredHeartbeat(heartbeat?.());
  });
  running += 1;
  let ticker = nextTick();
  try {
    const result = lease ? await leavingNothingBehind(lease, () => body(beat), context) : await body(beat);
    ages.forget(activity.info);
    return result;
  } catch (error) {
    const options = failure?.(error) ?? {};
    if (error instanceof ClosureError && stopReason() === undefined) throw closedFailure(error.body, options.progress);
    if (error instanceof CancelledFailure) {
      const isGone = error instanceof LeaseEndedError || stopReason() === "OTHER";
      if (isGone) activity.log.warn("Temporal ended this run of the Activity; it makes no further changes", context);
      // One that an operator has reset (`temporal activity reset`) goes on in another run, and has used up no attempt.
      const isReset = activity.cancellationDetails?.reset === true;
      const handsOver = error instanceof LeaseEndedError || isReset || stopReason() === "WORKER_SHUTDOWN";
      const mayStillArrive = lease?.mayStillArrive === true;
      throw handsOver ? workerShutdownFailure(context, options.progress, { mayStillArrive }) : error;
    }
    const failed = failureOf(error, context, options);
    activity.log.warn(failed.message, {
      ...(upgradeId !== undefined && { taskId: upgradeId }),
      ...context,
      errorCode: failed.type,
      error,
    });
    throw failed;
  } finally {
    lease?.end();
    running -= 1;
    clearTimeout(ticker);
  }
}

/** Runs the body under its lease, and ends when nothing that it has asked for can arrive any more (docs/decisions/0037). */
async function leavingNothingBehind<A>(
  lease: ActivityLease,
  body: () => Promise<A>,
  context: FailureContext,
): Promise<A> {
  let result: A;
  try {
    result = await withLease(lease, body);
  } finally {
    // What the body has left behind sends nothing more.
    lease.end();
    if (lease.mayStillArrive) {
      const doing = "Waiting until an unanswered change can no longer take effect";
      Context.current().log.info("Activity waits", { ...context, doing });
      await lease.untilNothingArrives();
    }
  }
  // The worker is stopped. What the work has come to is found again by the next run, once nothing can overtake it.
  if (lease.mayStillArrive) throw cancelledFailure();
  return result;
}

/** The lease of the current Activity; undefined where it has no heartbeats, and so nothing that it may change. */
function leaseOf(heartbeatTimeout: number | undefined, heartbeat: () => Promise<HeartbeatAnswer>) {
  if (!heartbeatTimeout) return undefined;
  return new ActivityLease({ heartbeatTimeout, heartbeat, interruption: endedWithoutAWish });
}

/** Counted by the SDK's own meter, beside what it measures of Activities itself. */
function tellLateHeartbeat({ log, metricMeter }: Context, milliseconds: number): void {
  metricMeter.createCounter("ums_heartbeats_late").add(1);
  log.warn("Late heartbeat: this worker is overloaded", { milliseconds: Math.round(milliseconds) });
}
