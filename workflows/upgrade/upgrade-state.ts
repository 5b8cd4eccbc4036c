import { condition, log, metricMeter } from "@temporalio/workflow";
import type { ActivityRecord } from "../../src/domain/activity/upgrade-activity";
import type { ErrorBody } from "../../src/domain/errors";
import type { Closed } from "../../src/domain/opening";
import { beginTime, firstPhase, overridesOnly } from "../../src/domain/plan/schedule";
import { type ResourcePlan, resourcesOf, type UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { ApprovalContext } from "../../src/domain/requests/approvals";
import type { CommitPayload } from "../../src/domain/requests/upgrade-request";
import type { Task } from "../../src/domain/spec/task";
import { type Approval, hasEnded, type UpgradePhase } from "../../src/domain/spec/upgrade";
import type { AcknowledgedFinding } from "../../src/domain/task/findings";
import { failedPrechecks } from "../../src/domain/task/precheck-errors";
import { type SkippedBy, skippedByOperator, skippedError } from "../../src/domain/task/left-out";
import { precheckRuns, prechecksPassed } from "../../src/domain/task/prechecks";
import { resourceTitle } from "../../src/domain/task/resource-progress";
import { applyProgress, initialTask } from "../../src/domain/task/task-progress";
import { toEpochMilliseconds } from "../../src/domain/timestamp";
import { sumVersions, type VersionCounts } from "../../src/domain/upgrade/upgrade-facts";
import { currentTime, now } from "../clock";
import { CheckDecisions } from "../check-decisions";
import type { HostsReport, ResourceResult, TaskWithChildren } from "../messages";
import { Acknowledgements } from "./acknowledgements";
import { Approvals, type CarriedApprovals } from "./approvals";
import { type HeldResource, HostSkips } from "./host-skips";
import { type CarriedResources, KnownResources, type KnownSkippedHost } from "./known-resources";
import { ResourceCheckGate } from "./resource-check-gate";
import { UpgradeActivity } from "./upgrade-activity";
import { tellBeginning, tellPhase } from "./upgrade-log";
import { type CarriedNotifications, UpgradeNotifications } from "./upgrade-notifications";
import { type CarriedNotifier, type ProgressEvent, UpgradeNotifier } from "./upgrade-notifier";
import { type Publishable, requestedBy, UpgradePublication } from "./upgrade-publication";
import { type CarriedTimes, UpgradeTimes } from "./upgrade-times";

/** The state that one run of an upgrade hands to the next while nothing is in work. */
export interface CarriedState extends TaskWithChildren, CarriedResources, CarriedTimes {
  readonly phase: UpgradePhase;
  readonly phaseSince: string;
  readonly lastError?: string;
  readonly failedPrechecks: readonly ErrorBody[];
  readonly warnings: readonly ErrorBody[];
  readonly notices: CarriedNotifications;
  readonly activity: ActivityRecord;
  readonly notifier: CarriedNotifier;
  readonly approvals?: CarriedApprovals;
  readonly acknowledged?: readonly AcknowledgedFinding[];
}

/** All that an upgrade knows of itself: one phase, from which every status follows, and the Task as a fold of events. */
export class UpgradeState {
  private currentPhase: UpgradePhase;
  private enteredAt: string;
  private currentTask: Task;
  private lastError: string | undefined;
  private isCancelling = false;
  private isPrechecking = false;
  private lockAwaited: Publishable["lockHeld"];
  private publishesSoon = false;
  /** Why freezes keep resources from beginning what comes next, by their ids. */
  private readonly closed = new Map<string, Closed>();
  private decision: Publishable["decision"] = "OPEN";
  readonly known: KnownResources;
  readonly publication: UpgradePublication;
  readonly times: UpgradeTimes;
  readonly notifier: UpgradeNotifier;
  readonly notices: UpgradeNotifications;
  readonly activity: UpgradeActivity;
  readonly approvals: Approvals;
  readonly acknowledgements: Acknowledgements;
  /** Errors of the latest precheck run. */
  failedPrechecks: readonly ErrorBody[];
  /** Errors that did not keep the upgrade from succeeding. */
  readonly warnings: ErrorBody[];
  /** Resources whose locks the upgrade holds, by their ids. */
  readonly locked = new Map<string, HeldResource>();
  readonly hostSkips = new HostSkips();
  readonly checkDecisions = new CheckDecisions();
  readonly checkGate = new ResourceCheckGate(this);
  /** Errors of resources that have failed in this attempt. */
  resourceErrors: ErrorBody[] = [];

  constructor(plan: UpgradePlan, before?: CarriedState) {
    this.times = new UpgradeTimes(plan, before);
    this.known = new KnownResources(plan, before);
    this.currentPhase = before?.phase ?? firstPhase(plan);
    this.enteredAt = before?.phaseSince ?? plan.creationTimestamp;
    this.currentTask = before?.task ?? initialTask(plan);
    this.lastError = before?.lastError;
    this.failedPrechecks = before?.failedPrechecks ?? [];
    this.warnings = [...(before?.warnings ?? [])];
    this.notices = new UpgradeNotifications(plan, before?.notices);
    this.notifier = new UpgradeNotifier(plan, this.notices, () => this.standing, before?.notifier);
    this.activity = new UpgradeActivity(plan, { requestedBy: requestedBy() }, before?.activity);
    this.approvals = new Approvals(plan.approvals, requestedBy(), before?.approvals);
    this.acknowledgements = new Acknowledgements(this, before?.acknowledged);
    this.publication = new UpgradePublication(() => this.publishable, this.times, this.known, before);
    if (before) this.publish();
    else tellBeginning(plan);
  }

  /** The state for the next run; nothing may be in work. */
  get carried(): CarriedState {
    const { phase, phaseSince, lastError, failedPrechecks, warnings } = this;
    return {
      ...this.known.carried,
      ...this.publication.taskWithChildren,
      ...this.times.carried,
      ...{ phase, phaseSince, failedPrechecks, warnings },
      notices: this.notices.carried,
      activity: this.activity.record,
      notifier: this.notifier.carried,
      ...(this.plan.approvals !== undefined && { approvals: this.approvals.carried }),
      ...(lastError !== undefined && { lastError }),
      ...(this.acknowledgements.all.length > 0 && { acknowledged: this.acknowledgements.all }),
    };
  }

  /** The plan with the times that hold now. */
  get plan(): UpgradePlan {
    return this.times.plan;
  }

  get phase(): UpgradePhase {
    return this.currentPhase;
  }

  /** When the phase was entered, a Timestamp. */
  get phaseSince(): string {
    return this.enteredAt;
  }

  get task(): Task {
    return this.currentTask;
  }

  /** Until when a failed upgrade can be decided on (epoch milliseconds). */
  get decideBy(): number {
    return toEpochMilliseconds(this.phaseSince) + this.plan.resolutionDays * 24 * 60 * 60 * 1000;
  }

  /** What notifications say of it beside what has happened. */
  private get standing() {
    const nextTime = this.times.next(this.unfinished());
    return { phase: this.phase, nextTime, decideBy: this.decideBy, retryable: this.task.isRetryable === true };
  }

  get resources(): readonly ResourcePlan[] {
    return resourcesOf(this.plan);
  }

  /** Records what has happened; shown by the next Query. */
  record(event: ProgressEvent): void {
    if (event.type === "ResourceStarted") this.known.started(event.resourceId);
    else if (event.type === "RetryStarted") this.known.retried();
    else if (event.type === "PrechecksStarted") this.isPrechecking = true;
    else if (event.type === "PrechecksEnded") this.isPrechecking = false;
    else if (event.type === "ResolutionEnded") this.decision = event.resolved ? "RESOLVED" : "EXPIRED";
    this.currentTask = applyProgress(this.currentTask, { ...event, at: now() });
    this.notifier.happened(event);
    this.activity.happened(event);
    if (event.type === "PrechecksStarted" || event.type === "PrechecksEnded") this.publication.describe();
  }

  /** Enters a phase and shows it everywhere at once: Task, Upgrade, search attributes, memo and Web UI. */
  enter(phase: UpgradePhase, errors: readonly ErrorBody[] = []): void {
    const from = this.currentPhase;
    this.currentPhase = phase;
    this.enteredAt = now();
    if (hasEnded(phase)) this.times.end();
    this.lastError = errors.at(-1)?.message ?? this.lastError;
    const hostVersions = phase === "CANCELLED" ? sumVersions(this.plan, this.known.facts) : [];
    this.record({ type: "PhaseEntered", phase, errors, ...(hostVersions.length > 0 && { hostVersions }) });
    const errorCodes = [...new Set(errors.map(({ errorCode }) => errorCode ?? "UNEXPECTED"))];
    const { plan, failedPrechecks } = this;
    const nextTime = this.times.next(this.unfinished());
    tellPhase({ plan, phase, errors, errorCodes, failedPrechecks, nextTime, hosts: this.known.hostCounts });
    if (hasEnded(phase)) countEnd(phase, errorCodes[0] ?? "");
    this.publish();
    this.notifier.entered(phase, { from, errors, failedPrechecks });
    if (phase === "DRAFT_WAITING" && failedPrechecks.length === 0 && this.approvals.areLacking)
      this.notifier.approvalWanted();
    this.activity.entered(phase, { from, errors, failedPrechecks, precheckRun: precheckRuns(this.currentTask) });
  }

  /** Whether nothing new starts until somebody resumes the upgrade. */
  get paused(): boolean {
    return this.currentPhase === "PAUSED";
  }

  /** `at`: when that was asked for, in epoch milliseconds. */
  resume(at: number): void {
    this.times.asked(at);
    this.enter("RUNNING");
  }

  /** Resources that do not begin without a commit any more. */
  startMissed(resources: readonly ResourcePlan[]): void {
    const all = this.times.startMissed(resources);
    if (all.length === 0) return;
    log.warn("Resources missed their start time and wait for a commit", { resources: all.length });
    this.record({ type: "StartMissed", resources: all });
    // A commit is judged by what is published, also where the rest of the upgrade runs on and enters no phase.
    this.publish();
  }

  /** Whether something waits for a commit because it was not begun at its time. */
  get awaitsCommit(): boolean {
    return this.times.awaitCommit;
  }

  /** Somebody wants the upgrade to begin, or begin again: what waited for that goes on. `at`: since when, epoch milliseconds. */
  asked(at: number): void {
    this.times.asked(at);
    if (!this.awaitsCommit) return;
    this.times.confirmStart();
    this.record({ type: "StartConfirmed" });
    this.publish();
  }

  /** What a decision on an approval depends on beside the phase. */
  get approvalContext(): Omit<ApprovalContext, "phase"> {
    const { told: approvals, askers } = this.approvals;
    const hasBegun = this.known.facts.startedAt !== undefined;
    return { approvals, askers, hasBegun, prechecksPassed: prechecksPassed(this.task) };
  }

  /** Somebody has approved the upgrade as it is planned now. */
  approved(approval: Approval): void {
    this.approvals.approve(approval);
    this.publish();
  }

  /** What blocks the upgrade follows from what is acknowledged now. */
  findingsAcknowledged(acknowledged: readonly AcknowledgedFinding[]): void {
    this.record({ type: "FindingsAcknowledged", acknowledged });
    if (!this.judgePrechecks()) this.publish();
  }

  /** Sees anew what of the latest prechecks blocks the upgrade. True for a draft that waits for something else now. */
  private judgePrechecks(): boolean {
    if (this.isPrechecking) return false;
    const hadFailed = this.failedPrechecks.length > 0;
    const counted = this.resources.filter(({ resourceId }) => !this.known.leftOut.has(resourceId));
    this.failedPrechecks = failedPrechecks(this.task, counted).map(({ error }) => error);
    const isOther = hadFailed !== this.failedPrechecks.length > 0;
    const isDraft = isOther && this.currentPhase === "DRAFT_WAITING";
    if (isDraft) this.enter("DRAFT_WAITING");
    return isDraft;
  }

  /** Whether the latest prechecks keep one of these resources from being upgraded now. */
  isBlocked(resources: readonly ResourcePlan[]): boolean {
    this.acknowledgements.noticeEnds();
    return failedPrechecks(this.task, this.known.unfinished(resources)).length > 0;
  }

  /** An operator leaves a resource out that has not begun, or has failed. Its lock is released at once. */
  skipResource(resourceId: string, why: SkippedBy): void {
    const resource = this.resources.find((one) => one.resourceId === resourceId);
    if (!resource || this.known.isSkipped(resource)) return;
    const error = skippedError(resourceTitle(resource), resourceId, why);
    log.info("A resource was left out by an operator", { resourceId, by: why.by });
    this.known.leaveOut(resourceId, { reasonCode: "SKIPPED_BY_OPERATOR", error });
    this.closureChanged(resourceId, undefined);
    this.record({ type: "ResourceLeftOut", resourceId, error, ...skippedByOperator(why) });
    this.resourceErrors = this.resourceErrors.filter(({ context }) => context?.["resourceId"] !== resourceId);
    this.locked.get(resourceId)?.release();
    if (this.times.leaveOut(resourceId)) this.record({ type: "StartConfirmed" });
    this.judgePrechecks();
    this.scopeChanged(why.by);
  }

  /** An operator leaves a host out. Where its cluster is in work, that has agreed. */
  skipHost(host: KnownSkippedHost): void {
    if (this.known.skipHost(host)) this.scopeChanged(host.by);
  }

  /** What is left of the upgrade is another plan, as long as nothing of it has begun. */
  private scopeChanged(by: string | undefined): void {
    if (this.known.facts.startedAt === undefined) {
      this.approvals.askedBy(by);
      this.dropApprovals();
    }
    this.publish();
  }

  private dropApprovals(): void {
    this.notifier.approvalsDropped();
    if (this.approvals.drop()) this.activity.approvalsDropped();
  }

  /** Somebody has rejected the upgrade, which ends where it waits. */
  rejected(reason: ErrorBody): void {
    this.approvals.reject(reason);
    this.times.changes++;
  }

  /**
   * Where something new would start: waits until it `isOver`, or the upgrade is neither paused nor lacks approvals. Ends early where it is
   * cancelled, and throws where it was rejected.
   */
  async untilResumed(isOver: () => boolean = () => false): Promise<void> {
    const isHeld = () => (this.paused || this.approvals.areLacking) && !isOver();
    this.approvals.throwIfRejected();
    while (isHeld()) {
      this.noteMissingApprovals();
      await condition(() => this.approvals.isRejected || !isHeld());
      this.approvals.throwIfRejected();
    }
  }

  /** Tells that approvals are wanted where they are lacking. */
  noteMissingApprovals(): void {
    if (!this.approvals.areLacking) return;
    this.notifier.approvalWanted();
    this.publish();
  }

  /** Somebody has cancelled the upgrade; it still ends what is in work. */
  cancelRequested(): void {
    this.isCancelling = true;
    const by = this.activity.cancelRequested();
    log.info("Cancellation requested", { phase: this.currentPhase });
    this.record({ type: "CancelRequested" });
    this.publish();
    this.notifier.requested("cancel", by);
  }

  get cancelling(): boolean {
    return this.isCancelling;
  }

  /** The first prechecks of an attempt begin. As long as nothing else may begin the upgrade is scheduled. */
  enterPrechecks(): void {
    const mayNotBegin = (one: ResourcePlan) => beginTime(one) > currentTime() || this.times.missesStart(one);
    const mustWait = this.approvals.areLacking || this.unfinished().every(mayNotBegin);
    if (!this.paused && mustWait) this.enter("SCHEDULED");
    else this.enterRunning();
  }

  /** Work goes on; entered once, however many resources begin. */
  enterRunning(): void {
    if (this.currentPhase !== "RUNNING" && !this.paused) this.enter("RUNNING");
  }

  /** Writes what lists and readers without a worker see. Called at changes of phase, not at every event. */
  publish(): void {
    this.publication.publish();
  }

  private get publishable(): Publishable {
    const { phase, phaseSince, task, cancelling, isPrechecking, lockHeld } = this;
    const { decision, decideBy, failedPrechecks, lastError, approvals, approvalContext, acknowledgements } = this;
    return {
      ...{ phase, phaseSince, task, cancelling, isPrechecking, lockHeld },
      ...{
        decision,
        decideBy,
        failedPrechecks,
        lastError,
        approvals,
        approvalContext,
        acknowledgements,
        closed: this.closedBy,
      },
    };
  }

  /** Of a scheduled upgrade, the lock that it has to wait for. */
  get lockHeld(): Publishable["lockHeld"] {
    return this.lockAwaited;
  }

  /** Why the locks of a scheduled upgrade cannot be had now; undefined where it has them. */
  waitForLock(why: string | undefined): void {
    // Its time may have come meanwhile, which is another phase for those who read it.
    if (this.lockAwaited?.message === why) return this.publication.publishFacts();
    // Which of several locks it is may change; it waits on.
    const { since = now() } = this.lockAwaited ?? {};
    this.lockAwaited = why === undefined ? undefined : { code: "LOCK", message: why, since };
    this.publish();
  }

  /** The prechecks have read what the hosts of a resource run. */
  versionsRead(resourceId: string, versions: VersionCounts): void {
    this.known.versionsRead(resourceId, versions);
  }

  /** A freeze keeps resources from beginning what comes next, or the maintenance window does, or none any more. */
  closuresChanged(resources: readonly Pick<ResourcePlan, "resourceId">[], closed: Closed | undefined): void {
    for (const { resourceId } of resources) this.closureChanged(resourceId, closed);
  }

  private closureChanged(resourceId: string, closed: Closed | undefined, publish = () => this.publishSoon()): void {
    if (this.closed.get(resourceId)?.message === closed?.message) return;
    // Whoever has begun to wait for a thaw goes on with that, also for what was left out meanwhile.
    if (closed && this.known.leftOut.has(resourceId)) return;
    const before = this.closedBy;
    if (closed) this.closed.set(resourceId, closed);
    else this.closed.delete(resourceId);
    const task = this.closedBy;
    this.record({
      type: "ClosureChanged",
      resourceId,
      ...(closed && { closed }),
      ...(task && { task }),
    });
    if (task?.message !== before?.message) this.activity.closureChanged(task, before);
    publish();
  }

  /**
   * Publishes once for all that happens in the same moment: the memo has the whole Task, and a Workflow Task that writes it for
   * each of many resources would be larger than Temporal takes.
   */
  private publishSoon(): void {
    if (this.publishesSoon) return;
    this.publishesSoon = true;
    void Promise.resolve().then(() => {
      this.publishesSoon = false;
      this.publish();
    });
  }

  /** Why something of the upgrade does not begin; undefined where no freeze keeps it from that. */
  private get closedBy(): Closed | undefined {
    const [first] = this.closed.values();
    return first;
  }

  hostsReported({ lastError, failedHosts = [], closed, windowClosesAt, isUnchecked, ...report }: HostsReport): void {
    const { resourceId, hosts } = report;
    const resource = this.resources.find((one) => one.resourceId === resourceId);
    if (!resource) return;
    this.activity.hostsFailed(resource, failedHosts);
    this.notifier.hostsCounted(resourceId, hosts, lastError);
    this.lastError = lastError ?? this.lastError;
    this.known.hostsReported(report);
    if (closed !== undefined || windowClosesAt !== undefined) this.windowKnown(resourceId, windowClosesAt);
    this.publication.publishFacts();
    this.checkGate.resourceIs(resourceId, isUnchecked === true);
    // A check that is asked for each host changes this too often for the whole Task to be written each time.
    const isCheck = (closed ?? this.closed.get(resourceId))?.code === "CHECK";
    this.closureChanged(resourceId, closed, isCheck ? () => this.publication.publishFacts() : undefined);
  }

  /** When the maintenance window closes that a resource works in. What was looked at before an override may be told after it. */
  windowKnown(resourceId: string, closesAt: number | undefined): void {
    this.known.windowKnown(resourceId, this.plan.maintenanceOverride ? undefined : closesAt);
  }

  /** Keeps a resource's result, and gives it with all that is known of its hosts. */
  resourceEnded(resourceId: string, ended: ResourceResult): ResourceResult {
    const result = this.known.ended(resourceId, ended);
    this.hostSkips.ended(resourceId);
    this.checkGate.resourceIs(resourceId, false);
    this.closureChanged(resourceId, undefined);
    const resource = this.resources.find((one) => one.resourceId === resourceId);
    if (resource) this.activity.resourceEnded(resource, result);
    this.notifier.hostsCounted(resourceId, result.hosts, result.error?.message);
    this.lastError = result.error?.message ?? this.lastError;
    this.publication.publishFacts();
    return result;
  }

  /** Resources that still have to be upgraded, in the order of the plan. */
  unfinished(): readonly ResourcePlan[] {
    return this.known.unfinished(this.resources);
  }

  /** Whoever asks for something else than what was approved has asked for the upgrade, and cannot approve it. */
  askedBy(commit: CommitPayload): void {
    if (!this.keepsApprovals(commit)) this.approvals.askedBy(commit.requestedBy);
  }

  /** What has begun goes on by the approvals that it has, in a window or not. */
  private keepsApprovals(commit: CommitPayload): boolean {
    return this.known.facts.startedAt !== undefined && overridesOnly(commit);
  }

  /** Gives what has not begun another time, or has it ignore maintenance windows, as a commit may. */
  reschedule(commit: CommitPayload): void {
    const { maintenanceOverride: before } = this.plan;
    if (!this.times.reschedule(commit, this.known.begun)) return;
    const { maintenanceOverride } = this.plan;
    if (maintenanceOverride && !before) {
      this.record({ type: "MaintenanceOverridden", maintenanceOverride });
      for (const { resourceId } of this.resources) this.windowKnown(resourceId, undefined);
    }
    if (!this.keepsApprovals(commit)) this.dropApprovals();
    this.publish();
    this.notifier.timeGiven();
  }
}

/** Counted when it happens, never in a replay: the SDK drops what a replay counts. */
function countEnd(phase: UpgradePhase, because: string): void {
  metricMeter.createCounter("ums_upgrades_ended").add(1, { phase, error_code: because });
}
