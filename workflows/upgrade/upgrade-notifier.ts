import { workflowInfo } from "@temporalio/workflow";
import type { ErrorBody } from "../../src/domain/errors";
import {
  type LongWait,
  type NotificationData,
  notificationErrors,
  notificationResources,
  notificationsOfPhase,
  type NotificationType,
  wantedAfter,
} from "../../src/domain/notifications/upgrade-notification";
import { resourcesOf, type UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { RequestOutcome } from "../../src/domain/requests/upgrade-request";
import { changeRecordOf } from "../../src/domain/spec/change-record";
import { statusOfPhase, type UpgradePhase } from "../../src/domain/spec/upgrade";
import type { HostCounts } from "../../src/domain/task/sub-task";
import type { TaskProgress } from "../../src/domain/task/task-progress";
import { toTimestamp } from "../../src/domain/timestamp";
import { now } from "../clock";
import type { UpgradeNotifications } from "./upgrade-notifications";

/** Progress without its time, which is now. */
export type ProgressEvent = TaskProgress extends infer P ? (P extends unknown ? Omit<P, "at"> : never) : never;

/** Where an upgrade stands. Times in epoch milliseconds. */
interface Standing {
  readonly phase: UpgradePhase;
  /** When what is left begins, where that lies ahead. */
  readonly nextTime: number | undefined;
  /** Until when a failed upgrade can be decided on. */
  readonly decideBy: number;
  readonly retryable: boolean;
}

/** What one run of an upgrade hands to the next about what receivers were told. */
export interface CarriedNotifier {
  /** Who had it begin. */
  readonly starter?: string;
  /** The time that they were last told, a Timestamp. */
  readonly reportedTime?: string;
  /** Whether they know that approvals are wanted. */
  readonly reportedApproval?: boolean;
}

/** Types of what a request does at once. */
const byRequest: ReadonlySet<NotificationType> = new Set([
  "upgrade.paused",
  "upgrade.resumed",
  "upgrade.cancel.requested",
  "upgrade.cancelled",
  "upgrade.resolved",
]);

/** Types of what somebody's commit or retry, or the start of the upgrade, has brought about. */
const byStarter: ReadonlySet<NotificationType> = new Set(["upgrade.scheduled", "upgrade.started"]);

/** Phases in which nothing has begun. */
const beforeBegin: ReadonlySet<UpgradePhase> = new Set(["DRAFT_PRECHECKS", "DRAFT_WAITING", "ACCEPTED", "SCHEDULED"]);

/** Finds in all that happens to an upgrade what is worth telling its receivers. */
export class UpgradeNotifier {
  /** Whether receivers were told that this attempt has begun with its work. */
  private reportedStart = false;
  /** How long after its time the work has begun. */
  private lateSeconds: number | undefined;
  /** Failed hosts by resource that receivers were told of in this attempt. */
  private readonly reportedFailedHosts = new Map<string, number>();
  private reportedTime: string | undefined;
  /** Whether receivers know that approvals of the plan are wanted. */
  private reportedApproval: boolean;
  private readonly createdBy: string | undefined;
  private starter: string | undefined;
  private requestedBy: string | undefined;

  /** `before`: of an earlier run. `standing` is asked whenever something is told. */
  constructor(
    private readonly plan: UpgradePlan,
    private readonly notices: UpgradeNotifications,
    private readonly standing: () => Standing,
    before?: CarriedNotifier,
  ) {
    const createdBy = workflowInfo().memo?.["requestedBy"];
    this.createdBy = typeof createdBy === "string" ? createdBy.slice(0, 255) : undefined;
    this.starter = before ? before.starter : this.createdBy;
    this.reportedTime = before?.reportedTime;
    this.reportedApproval = before?.reportedApproval ?? false;
  }

  get carried(): CarriedNotifier {
    const { starter, reportedTime, reportedApproval } = this;
    return {
      ...(starter !== undefined && { starter }),
      ...(reportedTime !== undefined && { reportedTime }),
      ...(reportedApproval && { reportedApproval }),
    };
  }

  /** A request was accepted, or a cancellation asked for: what it causes is told with the name, where that is known. */
  requested(request: RequestOutcome["request"] | "cancel", by: string | undefined): void {
    this.requestedBy = by?.slice(0, 255);
    if (request === "commit" || request === "retry") this.starter = this.requestedBy;
    if (request === "cancel") this.tell("upgrade.cancel.requested");
  }

  /** Something was recorded on the Task. */
  happened(event: ProgressEvent): void {
    if (event.type === "RetryStarted") {
      this.reportedStart = false;
      this.lateSeconds = undefined;
      this.reportedTime = undefined;
      this.reportedFailedHosts.clear();
    } else if (event.type === "ProductStarted") {
      const { lateSeconds } = this;
      if (!this.reportedStart) this.tell("upgrade.started", { ...(lateSeconds !== undefined && { lateSeconds }) });
      this.reportedStart = true;
    } else if (event.type === "StartMissed") {
      this.tell("upgrade.start.missed");
    } else if (event.type === "StartedLate") {
      this.lateSeconds = event.seconds;
    } else if (event.type === "ResolutionEnded") {
      this.tell(event.resolved ? "upgrade.resolved" : "upgrade.expired");
    }
  }

  /** A phase was entered, with these errors. `failedPrechecks` are the errors of the latest prechecks. */
  entered(
    phase: UpgradePhase,
    about: { from: UpgradePhase; errors: readonly ErrorBody[]; failedPrechecks: readonly ErrorBody[] },
  ): void {
    const { from, errors, failedPrechecks } = about;
    const change = { from, to: phase, errors, prechecksFailed: failedPrechecks.length > 0 };
    for (const type of notificationsOfPhase(change))
      this.tell(type, { errors: type === "upgrade.prechecks.failed" ? failedPrechecks : errors });
    this.timeGiven();
  }

  /** Tells of the time at which a scheduled upgrade begins, where receivers were told another or none. */
  timeGiven(): void {
    const { phase, nextTime } = this.standing();
    const time = phase === "SCHEDULED" && nextTime !== undefined ? toTimestamp(nextTime) : undefined;
    if (time === undefined || time === this.reportedTime) return;
    this.reportedTime = time;
    this.tell("upgrade.scheduled");
  }

  /** The hosts of a resource were counted; worth telling where more of them have failed than was told. */
  hostsCounted(resourceId: string, { failed, total }: HostCounts, message: string | undefined): void {
    if (failed <= (this.reportedFailedHosts.get(resourceId) ?? 0)) return;
    this.reportedFailedHosts.set(resourceId, failed);
    const errors = message === undefined ? [] : [{ message, context: { resourceId } }];
    this.tell("upgrade.host.failed", { errors, resourceId, hosts: { failed, total } });
  }

  /** The upgrade, or a part of it, waits for long. */
  waitsLong(waitingFor: LongWait): void {
    this.tell("upgrade.wait.long", { waitingFor });
  }

  /** The maintenance window closes soon (epoch milliseconds). */
  windowEnds(closes: number): void {
    this.tell("upgrade.window.ending", { windowClosesAt: toTimestamp(closes) });
  }

  /** Another plan needs approvals of its own. */
  approvalsDropped(): void {
    this.reportedApproval = false;
  }

  /** The upgrade lacks approvals; told once for each plan. */
  approvalWanted(): void {
    if (this.reportedApproval) return;
    this.reportedApproval = true;
    this.tell("upgrade.approval.wanted");
  }

  /** Nobody has decided yet what becomes of the failed upgrade. */
  decisionDue(errors: readonly ErrorBody[]): void {
    this.tell("upgrade.decision.due", { errors });
  }

  private tell(
    type: NotificationType,
    {
      errors = [],
      ...about
    }: Pick<NotificationData, "resourceId" | "hosts" | "lateSeconds" | "waitingFor" | "windowClosesAt"> & {
      errors?: readonly ErrorBody[];
    } = {},
  ): void {
    const { id, name, bundle, page, spec } = this.plan;
    const { phase, nextTime, decideBy, retryable } = this.standing();
    const { task, upgrade } = statusOfPhase(phase);
    const draft = phase === "DRAFT_PRECHECKS" || phase === "DRAFT_WAITING";
    const wanted = wantedAfter(type, { draft, retryable, waitingFor: about.waitingFor });
    const requestedBy = byRequest.has(type) ? this.requestedBy : byStarter.has(type) ? this.starter : undefined;
    const isDecision = type === "upgrade.failed" || type === "upgrade.decision.due";
    this.notices.tell(type, now(), {
      upgradeId: id,
      name,
      bundleId: bundle.id,
      status: upgrade,
      taskStatus: task,
      errors: notificationErrors(errors),
      ...notificationResources(resourcesOf(this.plan)),
      ...(page !== undefined && { link: page }),
      ...(this.createdBy !== undefined && { createdBy: this.createdBy }),
      ...changeRecordOf(spec),
      ...(requestedBy !== undefined && { requestedBy }),
      ...(beforeBegin.has(phase) && nextTime !== undefined && { beginsAt: toTimestamp(nextTime) }),
      ...(isDecision && { decideBy: toTimestamp(decideBy) }),
      ...(wanted && { wanted }),
      ...about,
    });
  }
}
