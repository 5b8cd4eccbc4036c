import type { ActivityEntry, ActivityKind } from "./upgrade-activity";

/** An entry of an activity log for people. */
export interface ActivityWords {
  /** What was asked, or what happened. */
  readonly what: string;
  /** What became of a request; empty where none was made. */
  readonly result: string;
  /** Why a request was refused, or something failed; empty where nothing was. */
  readonly reason: string;
  /** Who asked, and by which way; empty where no operator did. */
  readonly who: string;
  readonly tone: "good" | "bad" | "neutral";
}

const kinds: Readonly<Record<ActivityKind, string>> = {
  CREATE: "Create",
  COMMIT: "Commit",
  RESCHEDULE: "Reschedule",
  PAUSE: "Pause",
  RESUME: "Resume",
  PRECHECKS: "Run prechecks again",
  APPROVE: "Approve",
  REJECT: "Reject",
  ACKNOWLEDGE: "Acknowledge",
  SKIP: "Leave out",
  RETRY: "Retry",
  RESOLVE: "Give up",
  CANCEL: "Cancel",
  PRECHECKS_PASSED: "Prechecks passed",
  PRECHECKS_FAILED: "Prechecks failed",
  APPROVALS_DROPPED: "Approvals dropped, the plan has changed",
  START_MISSED: "Scheduled start missed, waiting for a commit",
  STARTED: "Work started",
  FROZEN: "Frozen, nothing new begins",
  THAWED: "Freeze lifted, work continues",
  WINDOW_CLOSED: "Maintenance window closed, nothing new begins",
  WINDOW_OPENED: "Maintenance window open, work continues",
  HELD: "Held, nothing new of it begins",
  RELEASED: "Hold released, work continues",
  CHECK_AWAITED: "Waiting for a check of the inventory",
  CHECK_FAILED: "Paused by a check of the inventory",
  CHECK_ENDED: "No longer waiting for a check",
  HOST_FAILED: "Host failed",
  RESOURCE_SUCCEEDED: "Done",
  RESOURCE_FAILED: "Failed",
  RESOURCE_LEFT_OUT: "Left out",
  FAILED: "Upgrade failed",
  SUCCEEDED: "Upgrade succeeded",
  SUCCEEDED_WITH_WARNINGS: "Upgrade succeeded with warnings",
  NOTHING_TO_DO: "Nothing to do: all hosts were at the target",
  RESOLVED: "Upgrade given up",
  EXPIRED: "Upgrade given up: no decision in time",
  CANCELLED: "Upgrade cancelled",
};

const ways = { HTTP: "HTTP", SIGNAL: "Signal", UPDATE: "Update", TEMPORAL: "Temporal" } as const;

const good: ReadonlySet<ActivityKind> = new Set(["PRECHECKS_PASSED", "RESOURCE_SUCCEEDED", "SUCCEEDED"]);
const bad: ReadonlySet<ActivityKind> = new Set([
  "PRECHECKS_FAILED",
  "CHECK_FAILED",
  "HOST_FAILED",
  "RESOURCE_FAILED",
  "FAILED",
]);

/** `time` shows a timestamp as the reader wants it. */
export function activityWords(entry: ActivityEntry, time: (timestamp: string) => string): ActivityWords {
  const { kind, outcome, actor, via, errorCode = "", message = errorCode, repeated } = entry;
  const refused = repeated === undefined ? "refused" : `refused ${repeated + 1} times`;
  return {
    what: `${subjectOf(entry)}${circumstances(entry, time)}`,
    result: outcome === undefined ? "" : outcome === "ACCEPTED" ? "accepted" : refused,
    reason: message,
    who: via === undefined ? "" : `${actor ?? "unknown"} (${ways[via]})`,
    tone: outcome === "REFUSED" || bad.has(kind) ? "bad" : good.has(kind) ? "good" : "neutral",
  };
}

function subjectOf(entry: ActivityEntry): string {
  const { kind, hostName, hostId, resourceName, resourceId = "", details } = entry;
  const resource = resourceName ?? resourceId;
  switch (kind) {
    case "HOST_FAILED":
      return `${resource}: host ${hostName ?? ""} failed`;
    case "SKIP":
      return `${kinds.SKIP} ${hostName === undefined ? resource : `host ${hostName} of ${resource}`}`.trim();
    case "RESOURCE_SUCCEEDED":
    case "RESOURCE_FAILED":
    case "RESOURCE_LEFT_OUT":
      return `${resource}: ${kinds[kind].toLowerCase()}`;
    case "ACKNOWLEDGE": {
      const host = hostName ?? hostId;
      return `${kinds[kind]} ${details?.finding ?? "a finding"} of ${resource}${host === undefined ? "" : `, host ${host}`}`;
    }
    default:
      return kinds[kind];
  }
}

function circumstances({ details = {} }: ActivityEntry, time: (timestamp: string) => string): string {
  const { draft, scheduledTimestamp, upgradeNow, mgmtUpgradePatchSpecs, lateSeconds, hosts, ...said } = details;
  const { changeId, reason, comment, subject, until, resourceCount, maintenanceWindow } = said;
  const parts = [
    draft === true && "as a draft",
    resourceCount !== undefined && `of ${resourceCount === 1 ? "one resource" : `${resourceCount} resources`} alone`,
    changeId !== undefined && `change ${changeId}`,
    upgradeNow === true ? "to start now" : scheduledTimestamp !== undefined && `for ${time(scheduledTimestamp)}`,
    maintenanceWindow !== undefined && "ignoring maintenance windows",
    mgmtUpgradePatchSpecs &&
      `switchovers at ${mgmtUpgradePatchSpecs.map((one) => time(one.startSwitchoverTimestamp)).join(", ")}`,
    lateSeconds !== undefined && `${lateSeconds} s late`,
    hosts && `${hosts.upgraded + hosts.skipped} of ${hosts.total} hosts at the target, ${hosts.failed} failed`,
    subject !== undefined && `about ${subject}`,
    until !== undefined && `until ${time(until)}`,
    reason !== undefined && `because: ${reason}`,
    comment !== undefined && `comment: ${comment}`,
  ].filter((part) => typeof part === "string");
  return parts.length === 0 ? "" : `, ${parts.join(", ")}`;
}
