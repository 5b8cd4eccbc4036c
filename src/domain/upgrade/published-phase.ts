import type { Closed } from "../opening";
import { sentence } from "../sentence";
import type { WaitingFor } from "../spec/task";
import { hasEnded, type PublishedPhase, type Upgrade, type UpgradePhase } from "../spec/upgrade";
import { toTimestamp, utcMinute } from "../timestamp";

/** What the Workflow of an upgrade knows of where it is. Times in epoch milliseconds. */
export interface PhaseState {
  readonly phase: UpgradePhase;
  /** An operator has cancelled it; what is in work is brought to a safe end. */
  readonly cancelling: boolean;
  /** Messages of the latest run of the prechecks. */
  readonly failedPrechecks: readonly string[];
  /** Something of it was not begun at its time; what its Task says of that. */
  readonly missedStart: WaitingFor | undefined;
  /** Something is being done that continues to its end during a pause, and before a cancellation takes effect. */
  readonly inWork: boolean;
  /** Of what is in work, those that are hosts. */
  readonly hostsInWork: number;
  /** The earliest time of what is left, where it lies ahead. */
  readonly nextTime: number | undefined;
  /** Why a freeze or a maintenance window keeps something of it from beginning. */
  readonly closed: Closed | undefined;
  /** Why locks of a scheduled upgrade cannot be had now. */
  readonly lockHeld: string | undefined;
  /** What has become of a failed upgrade: it is `OPEN` until it is retried, resolved, or its time is over. */
  readonly decision: "OPEN" | "RESOLVED" | "EXPIRED";
  readonly decideBy: number | undefined;
  readonly lastError: string | undefined;
  /** What approvals it lacks, in words of people. */
  readonly approvalsWanted?: string | undefined;
}

/** Phases in which a missing approval alone keeps an upgrade from going on. A draft waits for its commit first. */
const awaitsApproval: ReadonlySet<UpgradePhase> = new Set(["SCHEDULED", "RUNNING"]);

const afterFailure = { OPEN: "ACTION_REQUIRED", RESOLVED: "RESOLVED", EXPIRED: "FAILED" } as const;

/** The phase that clients read. The only place where it is decided. */
export function publishedPhase(state: PhaseState): PublishedPhase {
  const { phase, cancelling, failedPrechecks, missedStart, inWork, nextTime, closed, lockHeld } = state;
  const { decision, approvalsWanted } = state;
  if (cancelling && !hasEnded(phase)) return "CANCELLING";
  if (approvalsWanted !== undefined && awaitsApproval.has(phase) && !inWork) return "ACTION_REQUIRED";
  switch (phase) {
    case "ACCEPTED":
      return "WAITING";
    case "DRAFT_ACCEPTED":
    case "DRAFT_PRECHECKS":
      return "DRAFT_PRECHECKS";
    case "DRAFT_WAITING":
      return failedPrechecks.length > 0 ? "PRECHECKS_FAILED" : "DRAFT_READY";
    case "SCHEDULED":
      return nextTime === undefined && lockHeld !== undefined ? "WAITING" : "SCHEDULED";
    case "START_MISSED":
      return "ACTION_REQUIRED";
    case "RUNNING":
      if (inWork) return "RUNNING";
      if (missedStart) return "ACTION_REQUIRED";
      return nextTime === undefined && closed === undefined ? "RUNNING" : "WAITING";
    case "PAUSED":
      return inWork ? "PAUSING" : "PAUSED";
    case "SUCCESSFUL":
    case "NOTHING_TO_DO":
      return "SUCCEEDED";
    case "SUCCESSFUL_WITH_WARNING":
      return "SUCCEEDED_WITH_WARNINGS";
    case "CANCELLED":
      return "CANCELLED";
    case "FAILED":
      return afterFailure[decision];
  }
}

/** When a phase ends by itself, as far as that is known; a Timestamp. */
export function phaseEnd(state: PhaseState): string | undefined {
  const { nextTime, decideBy, closed } = state;
  switch (publishedPhase(state)) {
    case "SCHEDULED":
    case "WAITING":
      return nextTime === undefined ? closed?.until : toTimestamp(nextTime);
    case "ACTION_REQUIRED":
      return state.phase !== "FAILED" || decideBy === undefined ? undefined : toTimestamp(decideBy);
    default:
      return undefined;
  }
}

/** What an upgrade waits for in its phase, in words of people; undefined where it waits for nothing. */
export function phaseWait(state: PhaseState): Omit<WaitingFor, "since"> | undefined {
  const { phase, missedStart, nextTime, lockHeld, failedPrechecks, approvalsWanted, closed } = state;
  const published = publishedPhase(state);
  const forTime = nextTime && { code: "TIME" as const, message: `It starts at ${utcMinute(nextTime)}.` };
  switch (published) {
    case "DRAFT_READY":
      return { code: "COMMIT", message: "Its prechecks passed. It starts when it is committed." };
    case "PRECHECKS_FAILED":
      return {
        code: "PRECHECKS",
        message: `${sentence(shortened(failedPrechecks))} Run the prechecks again once this is fixed, or acknowledge it.`,
      };
    case "SCHEDULED":
    case "WAITING":
      if (lockHeld !== undefined) return { code: "LOCK", message: lockHeld };
      if (closed) return closed;
      if (forTime) return forTime;
      return phase === "ACCEPTED" ? { code: "LOCK", message: "It is locking its resources." } : undefined;
    case "RUNNING":
      return missedStart ?? closed;
    case "PAUSING":
      return { code: "WORK_IN_PROGRESS", message: `${whatIsInWork(state)} before it is paused.` };
    case "PAUSED":
      return { code: "RESUME", message: "It is paused. It continues when it is resumed." };
    case "CANCELLING":
      return { code: "WORK_IN_PROGRESS", message: `${whatIsInWork(state)} before it is cancelled.` };
    case "ACTION_REQUIRED":
      if (phase === "FAILED") return decisionWanted(state);
      if (approvalsWanted !== undefined && awaitsApproval.has(phase))
        return { code: "APPROVAL", message: approvalsWanted };
      return missedStart;
    default:
      return undefined;
  }
}

/**
 * A running upgrade of which Temporal knows that it was cancelled, also where no worker has told its Workflow yet. Since when
 * is not known then.
 */
export function asCancelling(upgrade: Upgrade): Upgrade {
  if (upgrade.phase === "CANCELLING" || upgrade.endTime !== undefined) return upgrade;
  const { since: _before, until: _begin, expectedEnd: _end, ...rest } = upgrade;
  const message = "Running work finishes safely before it is cancelled.";
  return { ...rest, phase: "CANCELLING", waitingFor: { code: "WORK_IN_PROGRESS", message } };
}

function whatIsInWork({ hostsInWork }: PhaseState): string {
  if (hostsInWork === 0) return "Running work finishes safely";
  return hostsInWork === 1 ? "1 host finishes safely" : `${hostsInWork} hosts finish safely`;
}

function decisionWanted({ lastError = "The upgrade failed." }: PhaseState): Omit<WaitingFor, "since"> {
  return { code: "DECISION", message: `${sentence(lastError)} Retry or resolve the upgrade.` };
}

/** Of many messages the first, and how many more there are. */
function shortened([first = "A precheck failed.", ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} (${more.length} more)`;
}
