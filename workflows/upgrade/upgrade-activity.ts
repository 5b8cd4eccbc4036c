import { addActivity, emptyRecord } from "../../src/domain/activity/activity-record";
import type {
  ActivityKind,
  ActivityRecord,
  ActivityVia,
  NewActivity,
} from "../../src/domain/activity/upgrade-activity";
import type { ErrorBody } from "../../src/domain/errors";
import type { Closed } from "../../src/domain/opening";
import { type CommitSpec, commits, saysWhen } from "../../src/domain/plan/schedule";
import { type ResourcePlan, resourcesOf, type UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { AskedAcknowledgement } from "../../src/domain/requests/acknowledge";
import type { OperatorRequest, RecordPayload, SkipPayload } from "../../src/domain/requests/upgrade-request";
import { changeRecordOf } from "../../src/domain/spec/change-record";
import type { UpgradePhase } from "../../src/domain/spec/upgrade";
import { currentTime, now } from "../clock";
import type { FailedHost, ResourceResult } from "../messages";
import type { ProgressEvent } from "./upgrade-notifier";

/** What an upgrade was asked, as its payload says it. */
export type AskedRequest = CommitSpec &
  AskedAcknowledgement & {
    readonly request: OperatorRequest | "cancel";
    readonly via: ActivityVia;
    readonly comment?: string;
    readonly reason?: string;
    readonly resourceIds?: readonly string[];
  } & Pick<SkipPayload, "requestedBy" | "hostName">;

/** Why a request was refused. */
type Reason = Pick<ErrorBody, "errorCode" | "message">;

/** Who has started the upgrade, as its memo says. */
interface Starter {
  readonly requestedBy: string | undefined;
}

/** How many of the resources that a retry names an entry has, so that many entries fit into one payload. */
const namedResources = 20;

/** How long a cancellation takes at most from its announcement by the API until it is here (milliseconds). */
const announcedFor = 60_000;

/** The activity log of an upgrade: finds in all that is asked of it and happens to it what its log tells. */
export class UpgradeActivity {
  private current: ActivityRecord;
  /** How long after its time the work of this attempt has begun. */
  private lateSeconds: number | undefined;
  /** Whether the log tells that this attempt has begun with its work. */
  private started = false;
  /** Names of resources by their ids. */
  private readonly names: ReadonlyMap<string, string>;
  private announcement: { readonly requestedBy: string | undefined; readonly at: number } | undefined;

  /** `before`: of an earlier run. */
  constructor(plan: UpgradePlan, { requestedBy }: Starter, before?: ActivityRecord) {
    this.current = before ?? emptyRecord;
    this.names = new Map(resourcesOf(plan).map(({ resourceId, name }) => [resourceId, name]));
    if (before) return;
    const scheduledTimestamp = earliest(resourcesOf(plan).map((resource) => resource.scheduledTimestamp));
    this.add({
      time: plan.creationTimestamp,
      kind: "CREATE",
      outcome: "ACCEPTED",
      via: "HTTP",
      ...(requestedBy !== undefined && { actor: requestedBy }),
      details: {
        draft: plan.draft,
        ...(scheduledTimestamp !== undefined && { scheduledTimestamp }),
        ...changeRecordOf(plan.spec),
        ...(plan.maintenanceOverride && { maintenanceWindow: "IGNORE" }),
      },
    });
  }

  get record(): ActivityRecord {
    return this.current;
  }

  /** A request was accepted, or refused for a reason. `phase`: the upgrade's before that. */
  requested(
    { request, requestedBy, via, ...asked }: AskedRequest,
    phase: UpgradePhase,
    { reason, run }: { readonly reason?: Reason | undefined; readonly run?: number } = {},
  ): void {
    const { scheduledTimestamp, upgradeNow, mgmtUpgradePatchSpecs, comment, maintenanceWindow, reason: why } = asked;
    const { code, subject, until, resourceIds } = asked;
    const details = {
      ...(why !== undefined && { reason: why }),
      ...(resourceIds && { resourceIds: resourceIds.slice(0, namedResources), resourceCount: resourceIds.length }),
      ...(scheduledTimestamp !== undefined && { scheduledTimestamp }),
      ...(upgradeNow !== undefined && { upgradeNow }),
      ...(mgmtUpgradePatchSpecs && { mgmtUpgradePatchSpecs }),
      ...(maintenanceWindow !== undefined && { maintenanceWindow }),
      ...(run !== undefined && { precheckRun: run }),
      ...(code !== undefined && { finding: code }),
      ...(subject !== undefined && { subject }),
      ...(until !== undefined && { until }),
      ...(comment !== undefined && { comment }),
    };
    this.add({
      kind: kindOf(request, asked, phase),
      outcome: reason ? "REFUSED" : "ACCEPTED",
      via,
      ...(requestedBy !== undefined && { actor: requestedBy }),
      ...this.namedBy(asked),
      ...(reason && told(reason)),
      ...(Object.keys(details).length > 0 && { details }),
    });
  }

  /** Which resource and host a request names. */
  private namedBy({ resourceId, hostId, hostName = hostId }: Pick<AskedRequest, "resourceId" | "hostId" | "hostName">) {
    return {
      ...(resourceId !== undefined && { resourceId, resourceName: this.names.get(resourceId) ?? resourceId }),
      ...(hostId !== undefined && hostName !== undefined && { hostId, hostName }),
    };
  }

  /** What the API tells: a request that it has refused, or who is about to cancel. */
  recorded({ reason, request, requestedBy, via, ...asked }: RecordPayload, phase: UpgradePhase): void {
    const sender = requestedBy === undefined ? {} : { requestedBy };
    if (reason) this.requested({ request, via: via ?? "SIGNAL", ...sender, ...asked }, phase, { reason });
    else if (request === "cancel") this.announcement = { requestedBy, at: currentTime() };
  }

  /** The upgrade was cancelled. Temporal does not say by whom; the API has, a moment before. Answers who it was, if known. */
  cancelRequested(): string | undefined {
    const { announcement } = this;
    const isAnnounced = announcement !== undefined && currentTime() - announcement.at <= announcedFor;
    const actor = isAnnounced ? announcement.requestedBy : undefined;
    this.add({
      kind: "CANCEL",
      outcome: "ACCEPTED",
      via: isAnnounced ? "HTTP" : "TEMPORAL",
      ...(actor !== undefined && { actor }),
    });
    return actor;
  }

  /** Something was recorded on the Task. */
  happened(event: ProgressEvent): void {
    if (event.type === "RetryStarted") {
      this.started = false;
      this.lateSeconds = undefined;
    } else if (event.type === "StartedLate") {
      this.lateSeconds = event.seconds;
    } else if (event.type === "ProductStarted") {
      const { lateSeconds } = this;
      if (!this.started) this.add({ kind: "STARTED", ...(lateSeconds !== undefined && { details: { lateSeconds } }) });
      this.started = true;
    } else if (event.type === "StartMissed") {
      this.add({ kind: "START_MISSED" });
    } else if (event.type === "ResolutionEnded") {
      this.add({ kind: event.resolved ? "RESOLVED" : "EXPIRED" });
    }
  }

  /** A phase was entered with these errors. `failedPrechecks`: of the latest run, which has this number. */
  entered(
    phase: UpgradePhase,
    about: {
      readonly from: UpgradePhase;
      readonly errors: readonly ErrorBody[];
      readonly failedPrechecks: readonly ErrorBody[];
      readonly precheckRun: number;
    },
  ): void {
    const { from, errors, failedPrechecks, precheckRun } = about;
    if (phase === "DRAFT_WAITING") {
      if (from !== "DRAFT_PRECHECKS") return;
      const kind = failedPrechecks.length > 0 ? "PRECHECKS_FAILED" : "PRECHECKS_PASSED";
      this.add({ kind, ...told(failedPrechecks[0]), details: { precheckRun } });
      return;
    }
    const kind = kindsOfEnds[phase];
    if (kind) this.add({ kind, ...told(errors[0]) });
  }

  /** Approvals do not count any more: they were of another plan. */
  approvalsDropped(): void {
    this.add({ kind: "APPROVALS_DROPPED" });
  }

  /** A freeze, the calendar or a hold keeps something from beginning, for which the message is why, or none does any more. */
  closureChanged(closed: Closed | undefined, before: Closed | undefined): void {
    if (closed) this.add({ kind: closures[closed.code].begins, message: closed.message });
    else this.add({ kind: closures[before?.code ?? "FROZEN"].ends });
  }

  /** A check of the inventory has paused the upgrade. */
  checkFailed(error: ErrorBody): void {
    this.add({ kind: "CHECK_FAILED", ...told(error) });
  }

  hostsFailed(resource: ResourcePlan, hosts: readonly FailedHost[]): void {
    for (const { id, name, at, errorCode, message } of hosts)
      this.add({
        time: at,
        kind: "HOST_FAILED",
        ...named(resource),
        hostId: id,
        hostName: name,
        ...told({ errorCode, message }),
      });
  }

  resourceLeftOut(resource: ResourcePlan, error: ErrorBody): void {
    this.add({ kind: "RESOURCE_LEFT_OUT", ...named(resource), ...told(error) });
  }

  /** A resource has ended its work; one that was not begun, or was cancelled, is told by the end of the upgrade. */
  resourceEnded(resource: ResourcePlan, { outcome, hosts, error }: ResourceResult): void {
    if (outcome === "CANCELLED" || outcome === "NOT_BEGUN") return;
    const kind = outcome === "FAILED" ? "RESOURCE_FAILED" : "RESOURCE_SUCCEEDED";
    const { total, upgraded, skipped, failed, left } = hosts;
    this.add({
      kind,
      ...named(resource),
      ...told(error),
      ...(total > 0 && { details: { hosts: { total, upgraded, skipped, failed, left } } }),
    });
  }

  private add(entry: Omit<NewActivity, "time"> & { readonly time?: string }): void {
    this.current = addActivity(this.current, { time: now(), ...entry });
  }
}

/** What the log tells when something keeps work from beginning, and when it does no more. */
const closures: Readonly<Record<Closed["code"], { readonly begins: ActivityKind; readonly ends: ActivityKind }>> = {
  FROZEN: { begins: "FROZEN", ends: "THAWED" },
  WINDOW: { begins: "WINDOW_CLOSED", ends: "WINDOW_OPENED" },
  HELD: { begins: "HELD", ends: "RELEASED" },
  CHECK: { begins: "CHECK_AWAITED", ends: "CHECK_ENDED" },
};

const kindsOfEnds: Partial<Record<UpgradePhase, ActivityKind>> = {
  SUCCESSFUL: "SUCCEEDED",
  SUCCESSFUL_WITH_WARNING: "SUCCEEDED_WITH_WARNINGS",
  NOTHING_TO_DO: "NOTHING_TO_DO",
  FAILED: "FAILED",
  CANCELLED: "CANCELLED",
};

const kinds = {
  pause: "PAUSE",
  resume: "RESUME",
  prechecks: "PRECHECKS",
  approve: "APPROVE",
  reject: "REJECT",
  acknowledge: "ACKNOWLEDGE",
  skip: "SKIP",
  retry: "RETRY",
  resolve: "RESOLVE",
  cancel: "CANCEL",
} as const satisfies Partial<Record<AskedRequest["request"], ActivityKind>>;

/** The same Signal commits a draft, and gives another time to what is committed. */
function kindOf(request: AskedRequest["request"], commit: CommitSpec, phase: UpgradePhase): ActivityKind {
  if (request !== "commit") return kinds[request];
  const isDraft = phase === "DRAFT_ACCEPTED" || phase === "DRAFT_PRECHECKS" || phase === "DRAFT_WAITING";
  const isFirst = isDraft || phase === "START_MISSED" || !saysWhen(commit);
  return commits(commit) && isFirst ? "COMMIT" : "RESCHEDULE";
}

function told(error: { readonly errorCode?: string | undefined; readonly message?: string | undefined } | undefined) {
  const { errorCode, message } = error ?? {};
  return { ...(errorCode !== undefined && { errorCode }), ...(message !== undefined && { message }) };
}

function named({ resourceId, name }: ResourcePlan): Pick<NewActivity, "resourceId" | "resourceName"> {
  return { resourceId, resourceName: name };
}

function earliest(times: readonly (string | undefined)[]): string | undefined {
  return times.filter((time) => time !== undefined).sort()[0];
}
