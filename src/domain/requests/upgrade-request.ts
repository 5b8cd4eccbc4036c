import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { Identifier, ListOf, model, OneOf, ResourceId, Text, WholeNumber } from "../codec";
import { ErrorBody } from "../errors";
import { commitOverrideProblem } from "../plan/maintenance-override";
import { commits, saysWhen, scheduleProblem, type ServerStanding, switchoverProblem } from "../plan/schedule";
import { hasEnded, statusOfPhase, type UpgradePhase } from "../spec/upgrade";
import { Reason } from "../spec/change-record";
import { acknowledgementFields } from "../spec/finding";
import { MaintenanceChoice, MgmtUpgradePatchSpecs, maximumResources, maximumSkippedHosts } from "../spec/upgrade-spec";
import { Timestamp } from "../timestamp";
import { type AskedAcknowledgement, decideFinding, type PrecheckedContext } from "./acknowledge";
import type { ApprovalContext } from "./approvals";
import type { SkipContext } from "./skip";

/**
 * Who sends a request to a running upgrade and when, the id under which its outcome is kept, the `x-request-id` of the HTTP
 * request that it came with, and that it came so.
 */
const origin = {
  requestId: Text,
  requestedBy: Text,
  requestedAt: Timestamp,
  referenceToken: Text,
  via: OneOf("HTTP"),
};

/**
 * Payload of `commit`: commits a draft, gives a committed upgrade or its switchovers another time, or has an upgrade ignore
 * maintenance windows.
 */
export const CommitPayload = model(
  {},
  {
    scheduledTimestamp: Timestamp,
    upgradeNow: t.boolean,
    mgmtUpgradePatchSpecs: MgmtUpgradePatchSpecs,
    maintenanceWindow: MaintenanceChoice,
    reason: Reason,
    ...origin,
  },
);
export type CommitPayload = t.TypeOf<typeof CommitPayload>;

/** Payload of the requests that say nothing but their name. */
export const PlainPayload = model({}, origin);
export type PlainPayload = t.TypeOf<typeof PlainPayload>;

/** Payload of `approve`. */
export const ApprovePayload = model({}, { comment: Reason, ...origin });
export type ApprovePayload = t.TypeOf<typeof ApprovePayload>;

/** Payload of `reject`, which has to say why. */
export const RejectPayload = model({ comment: Reason }, origin);
export type RejectPayload = t.TypeOf<typeof RejectPayload>;

/** Which finding an acknowledgement is about. */
const { code, resourceId, reason, ...narrower } = acknowledgementFields;
const whichFinding = { precheckId: Identifier, ...narrower };

/** Payload of `acknowledge`. `precheckId`: of which run of the prechecks the finding is; absent means the latest. */
export const AcknowledgePayload = model(
  { code, resourceId, reason, requestedBy: Text },
  { ...whichFinding, ...origin },
);
export type AcknowledgePayload = t.TypeOf<typeof AcknowledgePayload>;

/** Payload of `skip`: a cluster, or one host of it by its id or name. `hostName` is what people are told. */
export const SkipPayload = model(
  { resourceId: ResourceId, reason: Reason },
  { hostId: ResourceId, hostName: Text, ...origin },
);
export type SkipPayload = t.TypeOf<typeof SkipPayload>;

const SomeResources = ListOf(ResourceId, { max: maximumResources });

/** Payload of `retry`: without fields all that is not done, else only some of it, or not some of it. */
export const RetryPayload = model(
  {},
  {
    resourceIds: SomeResources,
    skipResources: SomeResources,
    skipHosts: ListOf(model({ resourceId: ResourceId, hostId: ResourceId }, { hostName: Text }), {
      max: maximumSkippedHosts,
    }),
    reason: Reason,
    ...origin,
  },
);
export type RetryPayload = t.TypeOf<typeof RetryPayload>;

/** Requests that reach an upgrade by a Signal or an Update of their name (./request-rules.ts). */
export const operatorRequests = [
  "commit",
  "pause",
  "resume",
  "prechecks",
  "retry",
  "resolve",
  "approve",
  "reject",
  "acknowledge",
  "skip",
] as const;
const OperatorRequest = OneOf(...operatorRequests);
export type OperatorRequest = t.TypeOf<typeof OperatorRequest>;

/**
 * Payload of the `record` Signal: a request that the API has refused, with the reason, or the cancellation that it is about to
 * ask of Temporal, which takes no sender.
 */
export const RecordPayload = model(
  { request: OneOf(...operatorRequests, "cancel") },
  {
    requestedBy: Text,
    via: OneOf("HTTP"),
    scheduledTimestamp: Timestamp,
    upgradeNow: t.boolean,
    mgmtUpgradePatchSpecs: MgmtUpgradePatchSpecs,
    maintenanceWindow: MaintenanceChoice,
    comment: Text,
    code,
    resourceId,
    ...whichFinding,
    hostName: Text,
    reason: model({ errorCode: t.string, message: t.string }, {}),
  },
);
export type RecordPayload = t.TypeOf<typeof RecordPayload>;

/**
 * What the upgrade made of a request. `run`: of accepted `prechecks`, which run of them it
 * begins; the first run is 1.
 */
export const RequestOutcome = model(
  { request: OperatorRequest, accepted: t.boolean, at: Timestamp },
  { requestId: t.string, requestedBy: t.string, reason: ErrorBody, run: WholeNumber },
);
export type RequestOutcome = t.TypeOf<typeof RequestOutcome>;

/** What can be decided of a failed upgrade. */
export type Decision = "retry" | "resolve";

/** Where an upgrade stands, as far as a request depends on it. */
export interface RequestContext extends ApprovalContext, SkipContext {
  /** What its prechecks have found; undefined where only the upgrade itself knows all of it. */
  readonly prechecked?: PrecheckedContext | undefined;
  /** Errors of the latest precheck run; empty where it passed or has not ended. */
  readonly failedPrechecks: readonly ErrorBody[];
  /** Whether a failed upgrade still waits for somebody's decision. */
  readonly awaitsResolution: boolean;
  /** What was last decided of a failure of the upgrade; a decision that came a moment ago shows no effect yet. */
  readonly decision?: Decision | undefined;
  /** Whether that decision may be a retry: not where something is broken for good. */
  readonly isRetryable: boolean;
  /** Whether a draft has a commit that takes effect within the moment, or when its prechecks have passed. */
  readonly committed: boolean;
  /** Whether something of it waits for a commit because it could not begin at its time; the rest may run. */
  readonly startMissed: boolean;
  /** Whether somebody has cancelled the upgrade, which then may still take a while to end. */
  readonly cancelling: boolean;
  /** The management servers of the upgrade. */
  readonly servers: readonly ServerStanding[];
  /** Of the upgrade's Workflow. */
  readonly history: HistoryLength;
  /** How many requests this run of the Workflow has accepted. Not published. */
  readonly requests?: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** How long the history of a Workflow is. */
export interface HistoryLength {
  readonly events: number;
  readonly bytes: number;
}

/** Half of what Temporal allows a history (51,200 events, 50 MB) before it terminates the Workflow. */
const fullHistory: HistoryLength = { events: 25_000, bytes: 25_000_000 };

/** Whether the rest of a history belongs to the work itself, so that requests which make it longer are refused. */
function isFull({ events, bytes }: HistoryLength): boolean {
  return events > fullHistory.events || bytes > fullHistory.bytes;
}

/** So many requests of one run come from a script; they may then fill a tenth of what Temporal allows, not half of it. */
const scripted = { requests: 200, events: 5_000, bytes: 5_000_000 };

/**
 * Whether an upgrade with resources in work, which cannot continue as new, takes no more requests that could be repeated
 * for ever.
 */
export function hasNoRoomInWork({ history, requests = 0 }: Pick<RequestContext, "history" | "requests">): boolean {
  const { events, bytes } = history;
  return isFull(history) || (requests >= scripted.requests && (events > scripted.events || bytes > scripted.bytes));
}

const committable: readonly UpgradePhase[] = [
  "DRAFT_ACCEPTED",
  "DRAFT_PRECHECKS",
  "DRAFT_WAITING",
  "ACCEPTED",
  "SCHEDULED",
  "START_MISSED",
];

/** Whether a commit takes effect, now or when the running prechecks pass, and why not. */
export function decideCommit(commit: CommitPayload, context: RequestContext): E.Either<ErrorBody, CommitPayload> {
  const { phase, failedPrechecks, now } = context;
  const problem = scheduleProblem(commit, now) ?? commitOverrideProblem(commit) ?? switchoverProblem(commit, context);
  if (problem) return E.left(problem);
  if (!commits(commit)) {
    if (committable.includes(phase) || phase === "RUNNING" || phase === "PAUSED")
      return hasNoRoomInWork(context)
        ? E.left(hasNoRoom("commit", phase, "Keep the switchover time, or cancel the upgrade."))
        : E.right(commit);
    return E.left(notPossible("commit", "The switchover time can be changed only before the upgrade ends.", phase));
  }
  if (phase === "DRAFT_WAITING" && failedPrechecks.length > 0) {
    return E.left({
      errorCode: "PRECHECKS_FAILED",
      errorType: "CONFLICT",
      message: `The draft cannot be committed: its prechecks have failed. ${firstMessages(failedPrechecks)}`,
      remediationMessage:
        "Fix what the failed prechecks name and run the prechecks again, or acknowledge their findings.",
      nestedErrors: [...failedPrechecks],
    });
  }
  if (isFull(context.history) && reschedules(commit, phase)) {
    const remediation = "Keep its time, start it with upgradeNow true, or cancel it and start a new upgrade.";
    return E.left(hasNoRoom("commit", phase, remediation));
  }
  if (committable.includes(phase) || context.startMissed) return E.right(commit);
  if (commit.maintenanceWindow !== undefined && (phase === "RUNNING" || phase === "PAUSED"))
    return decideOverride(commit, context);
  return E.left(notPossible("commit", "Only a draft or a scheduled upgrade can be committed.", phase));
}

/** Whether an upgrade that has begun, or waits for a window, ignores maintenance windows from here on. */
function decideOverride(
  commit: CommitPayload,
  { phase, ...context }: RequestContext,
): E.Either<ErrorBody, CommitPayload> {
  if (hasNoRoomInWork(context)) return E.left(hasNoRoom("commit", phase, "Let the upgrade finish, or cancel it."));
  if (!saysWhen(commit)) return E.right(commit);
  const remediation = "Send maintenanceWindow and reason without a time.";
  return E.left(notPossible("commit", "The upgrade has begun, so it takes no other time.", phase, remediation));
}

/** Whether an upgrade in this phase is a draft that has not taken its commit yet. */
export function isDraft(phase: UpgradePhase): boolean {
  return phase === "DRAFT_ACCEPTED" || phase === "DRAFT_PRECHECKS" || phase === "DRAFT_WAITING";
}

/** Whether a commit is another time for what is committed already; to begin at once happens only once. */
function reschedules({ upgradeNow }: CommitPayload, phase: UpgradePhase): boolean {
  return (phase === "SCHEDULED" || phase === "ACCEPTED") && upgradeNow !== true;
}

/** What the first errors say; all of them are nested in the error. */
function firstMessages(errors: readonly ErrorBody[], shown = 3): string {
  const more = errors.length > shown ? [`And ${errors.length - shown} more.`] : [];
  return [...errors.slice(0, shown).map(({ message }) => message), ...more].join(" ");
}

/** Whether nothing new starts from now on. What is in work goes on to its end, with the retries it has left. */
export function decidePause({ phase, ...context }: RequestContext): E.Either<ErrorBody, void> {
  if (phase === "RUNNING" && hasNoRoomInWork(context))
    return E.left(hasNoRoom("pause", phase, "Let the upgrade finish, or cancel it."));
  if (phase === "RUNNING") return E.right(undefined);
  if (phase === "PAUSED") return E.left(notPossible("pause", "The upgrade is already paused.", phase));
  return E.left(
    hasEnded(phase)
      ? notPossible("pause", "Only a running upgrade can be paused.", phase)
      : notPossible(
          "pause",
          "The upgrade is not running, so there is nothing to pause.",
          phase,
          "Reschedule it with a commit, or cancel it.",
        ),
  );
}

/** Whether a paused upgrade goes on. */
export function decideResume({ phase }: RequestContext): E.Either<ErrorBody, void> {
  if (phase === "PAUSED") return E.right(undefined);
  return E.left(notPossible("resume", "Only a paused upgrade can be resumed.", phase));
}

/** Whether the prechecks of a draft run again. */
export function decidePrechecks({ phase, committed, history }: RequestContext): E.Either<ErrorBody, void> {
  if (phase === "DRAFT_ACCEPTED" || phase === "DRAFT_PRECHECKS") {
    const remediation = "Wait until the prechecks on the draft's Task have ended, then run them again if needed.";
    return E.left(notPossible("prechecks", "The prechecks of this draft are already running.", phase, remediation));
  }
  if (phase === "DRAFT_WAITING" && !committed) {
    if (!isFull(history)) return E.right(undefined);
    const remediation = "Commit the draft if its prechecks have passed, or cancel it and start a new one.";
    return E.left(hasNoRoom("prechecks", phase, remediation));
  }
  return E.left(notPossible("prechecks", "Only the prechecks of an uncommitted draft can be run again.", phase));
}

/** Whether an operator's word counts that the upgrade may go on in spite of a finding. */
export function decideAcknowledge(asked: AskedAcknowledgement, context: RequestContext): E.Either<ErrorBody, void> {
  const { phase, awaitsResolution, history } = context;
  if (hasEnded(phase) && !awaitsResolution)
    return E.left(notPossible("acknowledge", "Findings can be acknowledged only before the upgrade ends.", phase));
  if (isFull(history)) return E.left(hasNoRoom("acknowledge", phase, "Fix what the prechecks have found."));
  return decideFinding(asked, context);
}

/** Why an upgrade that is being cancelled takes no request any more. */
export function beingCancelled(request: string, { phase }: RequestContext): ErrorBody {
  const remediation = "Wait until the upgrade's Task has ended, then start a new upgrade for the rest.";
  return notPossible(request, "The upgrade is being cancelled.", phase, remediation);
}

/** Whether a failed upgrade is tried again. */
export function decideRetry(context: RequestContext): E.Either<ErrorBody, void> {
  const { phase, awaitsResolution, isRetryable, decision } = context;
  if (decision === "retry" && !hasEnded(phase))
    return E.left(notPossible("retry", "The upgrade is already being retried.", phase, followRetry));
  if (phase !== "FAILED") return E.left(notPossible("retry", "Only a failed upgrade can be retried.", phase));
  if (!awaitsResolution) return E.left(decidedBefore(context));
  if (isRetryable && isFull(context.history))
    return E.left(hasNoRoom("retry", phase, "Resolve it, then start a new upgrade for the rest."));
  if (isRetryable) return E.right(undefined);
  return E.left(
    refusedAs(
      phase,
      "What failed must be restored manually, so the upgrade cannot be retried.",
      "Resolve it, then start a new upgrade.",
    ),
  );
}

/** Whether a failed upgrade is given up. */
export function decideResolve(context: RequestContext): E.Either<ErrorBody, void> {
  const { phase, awaitsResolution } = context;
  if (phase !== "FAILED") return E.left(notPossible("resolve", "Only a failed upgrade can be resolved.", phase));
  return awaitsResolution ? E.right(undefined) : E.left(decidedBefore(context));
}

const followRetry = "Read the upgrade's Task to follow that retry.";

/** Why a failed upgrade waits for no decision: another one was faster, or its time has run out. */
function decidedBefore({ phase, decision }: RequestContext): ErrorBody {
  switch (decision) {
    case "retry":
      return refusedAs(phase, "The failed upgrade is already being retried.", followRetry);
    case "resolve":
      return refusedAs(phase, "The failed upgrade has already been resolved.", "Start a new upgrade for the rest.");
    case undefined:
      return refusedAs(
        phase,
        "The deadline for retrying or resolving the failed upgrade has passed.",
        "Start a new upgrade for the rest.",
      );
  }
}

/** By the name of the request. */
const payloadExamples: Readonly<Partial<Record<string, string>>> = {
  commit: 'no payload, or JSON such as {"scheduledTimestamp": "2026-12-01T09:30:00Z"} or {"upgradeNow": true}',
  approve: 'JSON such as {"requestedBy": "name", "comment": "why"}',
  reject: 'JSON such as {"requestedBy": "name", "comment": "why"}',
  acknowledge: 'JSON such as {"requestedBy": "name", "code": "CLUSTER_BUSY", "resourceId": "id", "reason": "why"}',
  skip: 'JSON such as {"requestedBy": "name", "resourceId": "id", "hostId": "host-12", "reason": "why"}',
};

/** Why a payload that does not decode is refused. */
export function badPayload(request: string): ErrorBody {
  return {
    errorCode: "SIGNAL_PAYLOAD_INVALID",
    errorType: "INVALID_INPUT",
    message: `The payload of ${request} is not valid.`,
    remediationMessage: `Send ${payloadExamples[request] ?? 'no payload, or JSON such as {"requestedBy": "name"}'}.`,
  };
}

/** Temporal ends a Workflow whose history grows too long, and with it all that is in work. */
function hasNoRoom(request: string, phase: UpgradePhase, remediation: string): ErrorBody {
  return notPossible(request, "The history of the upgrade is full after too many requests.", phase, remediation);
}

/** Whether something can be left out: each such request makes the history of the upgrade longer. */
export function decideRoomToSkip({ phase, history }: RequestContext): E.Either<ErrorBody, void> {
  return isFull(history) && !hasEnded(phase)
    ? E.left(hasNoRoom("skip", phase, "Let the upgrade finish, or cancel it."))
    : E.right(undefined);
}

/** `rule`: what the upgrade would have to be; the message adds what it is. */
function notPossible(
  request: string,
  rule: string,
  phase: UpgradePhase,
  remediationMessage = `Read the upgrade's Task before sending ${request} again.`,
): ErrorBody {
  return refusedAs(phase, `${rule} It is ${statusOfPhase(phase).upgrade}.`, remediationMessage);
}

function refusedAs(phase: UpgradePhase, message: string, remediationMessage: string): ErrorBody {
  return {
    errorCode: "REQUEST_NOT_POSSIBLE",
    errorType: "CONFLICT",
    message,
    remediationMessage,
    context: { status: statusOfPhase(phase).upgrade },
  };
}
