import { ActivityCancellationType, type ActivityOptions } from "@temporalio/workflow";
import type { RetryPolicy } from "@temporalio/common";
import type { AttemptPolicy } from "../src/domain/upgrade-plan";

/**
 * Failures of the worker, not of the host. The server then gives the Activity up at once instead of waiting for
 * `retryDelay` and using up an attempt; the Workflow schedules it again, and it attaches to what still runs.
 */
const lostActivity = ["TemporalTimeout:Heartbeat", "TemporalTimeout:StartToClose"];

/** The retry policy of an Activity that changes something: that of the request's failure action. */
export function changeRetryPolicy({ maximumAttempts, retryDelay }: AttemptPolicy): RetryPolicy {
  // The server refuses an interval of 0.
  const interval = Math.max(1, retryDelay * 1000);
  return {
    maximumAttempts,
    initialInterval: interval,
    maximumInterval: interval,
    backoffCoefficient: 1,
    nonRetryableErrorTypes: lostActivity,
  };
}

/**
 * Activities that change something. `startToCloseTimeout` only ends what has hung for good: the waits inside have
 * limits of their own. A cancelled one is waited for, so that nothing it still does lands after the restore.
 */
export function changeOptions(attempts: AttemptPolicy): ActivityOptions {
  return {
    startToCloseTimeout: "7 days",
    heartbeatTimeout: "15 seconds",
    retry: changeRetryPolicy(attempts),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  };
}

/** Prechecks, reads and restores change nothing or put back: tried again with backoff, bounded by time. */
export const readOptions: ActivityOptions = {
  startToCloseTimeout: "2 minutes",
  scheduleToCloseTimeout: "30 minutes",
  heartbeatTimeout: "15 seconds",
  retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "30 seconds" },
};

/** Prechecks run for minutes on a large cluster. */
export const precheckOptions: ActivityOptions = {
  ...readOptions,
  startToCloseTimeout: "20 minutes",
  scheduleToCloseTimeout: "60 minutes",
};

/** The health gate has a limit of its own (HEALTH_GATE_MINUTES), and answers or fails once. */
export const gateOptions: ActivityOptions = {
  startToCloseTimeout: "7 days",
  heartbeatTimeout: "15 seconds",
  retry: { maximumAttempts: 1 },
};

/** A restore that is given up leaves a changed cluster behind: it is tried for a day. */
export const restoreOptions: ActivityOptions = { ...readOptions, scheduleToCloseTimeout: "24 hours" };

/** Taking back what was prepared of a migration: it takes its time, and its waits have limits of their own. */
export const takeBackOptions: ActivityOptions = {
  ...readOptions,
  startToCloseTimeout: "4 hours",
  scheduleToCloseTimeout: "4 hours",
};
