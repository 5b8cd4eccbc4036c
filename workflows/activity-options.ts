import type { RetryPolicy } from "@temporalio/common";
import { ActivityCancellationType, type ActivityOptions } from "@temporalio/workflow";
import type { ClusterTarget, MgmtPrecheckInput, NetvirtTarget } from "../activities/contract";
import { notificationRetries } from "../src/domain/notifications/notification-retries";
import {
  type AttemptPolicy,
  type ClusterUpgradePlan,
  type MgmtUpgradePlan,
  type NetvirtUpgradePlan,
  ownOptionsOf,
} from "../src/domain/plan/upgrade-plan";
import { type ActivityWaits, defaultActivityWaits } from "../src/domain/time-limits";

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

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** What has limits of its own inside: only an Activity that hangs for good, or makes progress for days, meets these. */
function longOptions(waits: ActivityWaits = defaultActivityWaits): ActivityOptions {
  const { stepDays, heartbeatSeconds } = waits;
  return { startToCloseTimeout: stepDays * day, heartbeatTimeout: heartbeatSeconds * second };
}

/** For a proxy whose every call names the attempts of its plan. */
const once: AttemptPolicy = { maximumAttempts: 1, retryDelay: 0 };

/**
 * Activities that change something. A cancelled one is waited for, so that nothing it still does lands after the
 * restore.
 */
export function changeOptions(attempts = once, waits: ActivityWaits = defaultActivityWaits): ActivityOptions {
  return {
    ...longOptions(waits),
    retry: changeRetryPolicy(attempts),
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  };
}

/** Prechecks, reads and restores change nothing or restore: retried with backoff, bounded by time. */
export function readOptions(waits: ActivityWaits = defaultActivityWaits): ActivityOptions {
  const { readRunSeconds, readMinutes, heartbeatSeconds } = waits;
  return {
    startToCloseTimeout: readRunSeconds * second,
    scheduleToCloseTimeout: readMinutes * minute,
    heartbeatTimeout: heartbeatSeconds * second,
    retry: { initialInterval: "1 second", backoffCoefficient: 2, maximumInterval: "30 seconds" },
  };
}

/** Reading every node of a large NETVIRT instance takes longer than other reads. */
export function netvirtReadOptions(waits: ActivityWaits = defaultActivityWaits): ActivityOptions {
  return { ...readOptions(waits), startToCloseTimeout: waits.netvirtReadMinutes * minute };
}

/**
 * A look at freezes, holds and the calendar. It goes on until they can be read, and with a reason that is known until there is another or none; between
 * its tries it takes no place in a worker and no event in the history. One look takes seconds, so that one whose worker is killed
 * does not keep work from beginning for long.
 */
export function closureLookOptions(): ActivityOptions {
  return {
    startToCloseTimeout: "10 seconds",
    retry: { initialInterval: "1 second", backoffCoefficient: 1.5, maximumInterval: "10 seconds" },
  };
}

/**
 * A check of the inventory. It takes a minute at most by itself; the Activity says when it is asked again, and ends by itself
 * where it is not waited for.
 */
export function checkOptions(): ActivityOptions {
  return {
    startToCloseTimeout: "90 seconds",
    retry: { initialInterval: "2 seconds", backoffCoefficient: 1.5, maximumInterval: "60 seconds" },
  };
}

/** One run of a read, at most: what a failure is only told more about, and must not wait for. */
export function lookOptions(waits: ActivityWaits = defaultActivityWaits): ActivityOptions {
  return { ...readOptions(waits), scheduleToCloseTimeout: waits.readRunSeconds * second };
}

/** Prechecks run for minutes on a large cluster; one run that hangs must not take the time of all. */
export function precheckOptions(waits: ActivityWaits = defaultActivityWaits): ActivityOptions {
  const { precheckMinutes } = waits;
  return {
    ...readOptions(waits),
    startToCloseTimeout: (precheckMinutes * minute) / 3,
    scheduleToCloseTimeout: precheckMinutes * minute,
  };
}

/** The health gate has a limit of its own (HEALTH_GATE_MINUTES), and answers or fails once. */
export function gateOptions(waits: ActivityWaits = defaultActivityWaits): ActivityOptions {
  return { ...longOptions(waits), retry: { maximumAttempts: 1 } };
}

/**
 * A restore that is given up leaves a changed cluster behind: it is tried for long. A lost one goes back to the Workflow,
 * because the server would run it again before its worker has ceased to act.
 */
export function restoreOptions(waits: ActivityWaits = defaultActivityWaits): ActivityOptions {
  const read = readOptions(waits);
  return {
    ...read,
    scheduleToCloseTimeout: waits.restoreHours * hour,
    retry: { ...read.retry, nonRetryableErrorTypes: lostActivity },
  };
}

/** Notifications wait on their receivers alone: a policy of their own, for at most `longest` milliseconds. */
export function notificationOptions(longest: number): ActivityOptions {
  return {
    startToCloseTimeout: "20 seconds",
    scheduleToCloseTimeout: longest,
    retry: notificationRetries,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  };
}

/** Taking back what was prepared of a migration: it takes its time, and its waits have limits of their own. */
export function rollbackOptions(waits: ActivityWaits = defaultActivityWaits): ActivityOptions {
  const longest = waits.takeBackHours * hour;
  return { ...restoreOptions(waits), startToCloseTimeout: longest, scheduleToCloseTimeout: longest };
}

/** What Activities need of a cluster's plan. Of its options only those that no policy of the product carries. */
export function clusterTarget(plan: ClusterUpgradePlan, upgradeId?: string): ClusterTarget {
  const { resourceId, name, componentManagerId, cluster, kind, targetVersion, image, options, customIsoId, hosts } =
    plan;
  const { places } = plan;
  const ownOptions = ownOptionsOf(plan);
  return {
    cluster: { resourceId, name, componentManagerId, cluster },
    kind,
    targetVersion,
    ...(hosts && { scope: hosts }),
    places,
    ...(upgradeId !== undefined && { upgradeId }),
    ...(image && { image }),
    ...(ownOptions && { ownOptions }),
    ...(kind === "BASELINE" && { options, ...(customIsoId !== undefined && { customIsoId }) }),
  };
}

/** What Activities need of a NETVIRT instance's plan. */
export function netvirtTarget(plan: NetvirtUpgradePlan): NetvirtTarget {
  const { resourceId, name, componentManagerId, targetVersion, options, places } = plan;
  return { netvirt: { resourceId, name, componentManagerId }, targetVersion, options, places };
}

/** What Activities need of a management server's plan. */
export function mgmtTarget(plan: MgmtUpgradePlan): MgmtPrecheckInput {
  const { resourceId, name, componentManagerId, targetVersion, mechanism, temporaryNetwork, places } = plan;
  return {
    server: { resourceId, name, componentManagerId },
    targetVersion,
    mechanism,
    places,
    ...(temporaryNetwork && { temporaryNetwork }),
  };
}
