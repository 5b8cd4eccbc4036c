import {
  condition,
  log,
  metricMeter,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import type { ErrorBody } from "../../src/domain/errors";
import {
  beginTime,
  type CommitSpec,
  firstPhase,
  reschedulePlan,
  rescheduleSwitchovers,
  saysWhen,
  type ServerStanding,
} from "../../src/domain/plan/schedule";
import { type ResourcePlan, resourcesOf, type UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import type { Task } from "../../src/domain/spec/task";
import { hasEnded, statusOfPhase, type Upgrade, type UpgradePhase } from "../../src/domain/spec/upgrade";
import type { HostCounts } from "../../src/domain/task/sub-task";
import { taskInMemo } from "../../src/domain/task/task-change";
import { applyProgress, initialTask } from "../../src/domain/task/task-progress";
import { toEpochMilliseconds } from "../../src/domain/timestamp";
import { type PhaseState, publishedPhase } from "../../src/domain/upgrade/published-phase";
import {
  enterPublishedPhase,
  hostsInWork,
  hostsMilestone,
  initialFacts,
  isInWork,
  reportHosts,
  type UpgradeFacts,
  upgradeWithFacts,
  withResourceFacts,
} from "../../src/domain/upgrade/upgrade-facts";
import { currentTime, now } from "../clock";
import { describeUpgrade } from "../details";
import type { ChildRun, HostsReport, ResourceResult, TaskWithChildren, UpgradeMemo } from "../messages";
import { taskStatusKey, upgradePhaseKey, upgradeStatusKey } from "../search-attributes";
import { type CarriedNotifications, UpgradeNotifications } from "./upgrade-notifications";
import { tellBeginning, tellPhase } from "./upgrade-log";
import { type ProgressEvent, UpgradeNotifier } from "./upgrade-notifier";

/** The state that one run of an upgrade hands to the next while nothing is in work. `askedAt` in epoch milliseconds. */
export interface CarriedState extends TaskWithChildren {
  readonly phase: UpgradePhase;
  readonly phaseSince: string;
  readonly facts: UpgradeFacts;
  readonly results: readonly (readonly [resourceId: string, ResourceResult])[];
  readonly hosts: readonly (readonly [resourceId: string, HostCounts])[];
  readonly lastError?: string;
  readonly failedPrechecks: readonly ErrorBody[];
  readonly warnings: readonly ErrorBody[];
  readonly askedAt: number;
  /** Ids of resources that wait for a commit, because they were not begun at their time. */
  readonly missed: readonly string[];
  readonly notices: CarriedNotifications;
}

/** All that an upgrade knows of itself: one phase, from which every status follows, and the Task as a fold of events. */
export class UpgradeState {
  private currentPhase: UpgradePhase;
  private phaseSince: string;
  private currentTask: Task;
  private readonly children = new Map<string, ChildRun>();
  private readonly results = new Map<string, ResourceResult>();
  private readonly hosts = new Map<string, HostCounts>();
  private lastError: string | undefined;
  private isCancelling = false;
  private published = 0;
  private facts: UpgradeFacts;
  /** What lists have been told last: search attributes, and the milestone of the hosts. */
  private told = { attributes: "", milestone: "" };
  private isPrechecking = false;
  private lockHeld: string | undefined;
  private decision: PhaseState["decision"] = "OPEN";
  private readonly notifier: UpgradeNotifier;
  readonly notices: UpgradeNotifications;
  /** Errors of the latest precheck run. */
  failedPrechecks: readonly ErrorBody[] = [];
  /** Errors that did not keep the upgrade from succeeding. */
  readonly warnings: ErrorBody[] = [];
  /** Errors of resources that have failed in this attempt. */
  resourceErrors: ErrorBody[] = [];
  /** Grows with every change of the schedule, so that a wait can notice one. */
  scheduleChanges = 0;
  /** When somebody last asked for the upgrade or had it go on (epoch milliseconds): what was due by then is not late. */
  private askedAt: number;
  /** Resources that were not begun at their time and wait for a commit. */
  private readonly missed = new Set<string>();
  /** Resources whose work has begun in this attempt. */
  private readonly begun = new Set<string>();

  constructor(
    private currentPlan: UpgradePlan,
    before?: CarriedState,
  ) {
    this.currentPhase = before?.phase ?? firstPhase(currentPlan);
    this.phaseSince = before?.phaseSince ?? currentPlan.creationTimestamp;
    this.askedAt = before?.askedAt ?? toEpochMilliseconds(currentPlan.creationTimestamp);
    this.currentTask = before?.task ?? initialTask(currentPlan);
    this.facts = before?.facts ?? initialFacts(currentPlan);
    this.notices = new UpgradeNotifications(currentPlan, before?.notices);
    this.notifier = new UpgradeNotifier(currentPlan, this.notices);
    if (before) this.restore(before);
    else tellBeginning(currentPlan);
  }

  private restore({ children, results, hosts, failedPrechecks, warnings, ...before }: CarriedState): void {
    for (const child of children) this.childStarted(child);
    for (const [resourceId, result] of results) this.results.set(resourceId, result);
    for (const [resourceId, counts] of hosts) this.hosts.set(resourceId, counts);
    this.failedPrechecks = failedPrechecks;
    this.warnings.push(...warnings);
    for (const resourceId of before.missed) this.missed.add(resourceId);
    this.lastError = before.lastError;
    this.published = before.published ?? 0;
    this.publish();
  }

  /** The state for the next run; nothing may be in work. */
  get carried(): CarriedState {
    const { phase, phaseSince, facts, lastError, failedPrechecks, warnings, askedAt } = this;
    return {
      ...this.taskWithChildren(),
      ...{ phase, phaseSince, facts, failedPrechecks, warnings, askedAt },
      results: [...this.results],
      hosts: [...this.hosts],
      missed: [...this.missed],
      notices: this.notices.carried,
      ...(lastError !== undefined && { lastError }),
    };
  }

  /** The plan with the times that hold now. */
  get plan(): UpgradePlan {
    return this.currentPlan;
  }

  get phase(): UpgradePhase {
    return this.currentPhase;
  }

  /** When the phase was entered, a Timestamp. */
  get since(): string {
    return this.phaseSince;
  }

  get task(): Task {
    return this.currentTask;
  }

  get upgrade(): Upgrade {
    const { phaseState: state, phaseSince } = this;
    const createdBy: unknown = workflowInfo().memo?.["requestedBy"];
    return upgradeWithFacts(this.plan, this.facts, {
      state,
      phaseSince,
      unfinished: this.unfinished(),
      now: currentTime(),
      ...(typeof createdBy === "string" && { createdBy }),
    });
  }

  /** All that the phase which clients read follows from. */
  private get phaseState(): PhaseState {
    const { currentPhase: phase, isCancelling: cancelling, facts, lockHeld, decision, lastError } = this;
    const days = this.plan.resolutionDays;
    return {
      ...{ phase, cancelling, lockHeld, decision, lastError },
      failedPrechecks: this.failedPrechecks.map(({ message }) => message),
      missedStart: this.awaitsCommit ? this.currentTask.waitingFor : undefined,
      inWork: this.isPrechecking || isInWork(facts),
      hostsInWork: hostsInWork(facts),
      nextTime: this.nextTime(this.unfinished()),
      decideBy: phase === "FAILED" ? toEpochMilliseconds(this.phaseSince) + days * 24 * 60 * 60 * 1000 : undefined,
    };
  }

  get resources(): readonly ResourcePlan[] {
    return resourcesOf(this.plan);
  }

  taskWithChildren(): TaskWithChildren {
    return { task: this.currentTask, children: [...this.children.values()], published: this.published };
  }

  /** Records what has happened; shown by the next Query. */
  record(event: ProgressEvent): void {
    if (event.type === "ResourceStarted") this.resourceStarted(event.resourceId);
    else if (event.type === "RetryStarted") this.begun.clear();
    else if (event.type === "PrechecksStarted") this.isPrechecking = true;
    else if (event.type === "PrechecksEnded") this.isPrechecking = false;
    else if (event.type === "ResolutionEnded") this.decision = event.resolved ? "RESOLVED" : "EXPIRED";
    this.currentTask = applyProgress(this.currentTask, { ...event, at: now() });
    this.notifier.happened(event, this.currentPhase);
  }

  /** Enters a phase and shows it everywhere at once: Task, Upgrade, search attributes, memo and Web UI. */
  enter(phase: UpgradePhase, errors: readonly ErrorBody[] = []): void {
    const from = this.currentPhase;
    this.currentPhase = phase;
    this.phaseSince = now();
    if (hasEnded(phase)) this.missed.clear();
    this.lastError = errors.at(-1)?.message ?? this.lastError;
    this.record({ type: "PhaseEntered", phase, errors });
    const errorCodes = [...new Set(errors.map(({ errorCode }) => errorCode ?? "UNEXPECTED"))];
    const { plan, failedPrechecks } = this;
    const nextTime = this.nextTime(this.unfinished());
    tellPhase({ plan, phase, errors, errorCodes, failedPrechecks, nextTime, hosts: [...this.hosts.values()] });
    if (hasEnded(phase)) countEnd(phase, errorCodes[0] ?? "");
    this.publish();
    this.notifier.entered(phase, { from, errors, failedPrechecks: this.failedPrechecks });
  }

  /** Whether nothing new starts until somebody resumes the upgrade. */
  get paused(): boolean {
    return this.currentPhase === "PAUSED";
  }

  pause(): void {
    this.enter("PAUSED");
  }

  /** `at`: when that was asked for, in epoch milliseconds. */
  resume(at: number): void {
    this.askedAt = Math.max(this.askedAt, at);
    this.enter("RUNNING");
  }

  /**
   * How far a resource is past its time (milliseconds); 0 where nobody has given it one, or somebody has asked for it since.
   * `readyAt`: before that it could not begin for reasons of the upgrade's own.
   */
  lateness(resource: ResourcePlan, readyAt = 0): number {
    const time = beginTime(resource);
    return time <= this.askedAt ? 0 : Math.max(0, currentTime() - Math.max(time, readyAt));
  }

  /** Whether a resource is so late that it does not begin without a commit. */
  missesStart(resource: ResourcePlan, readyAt = 0): boolean {
    return this.missed.has(resource.resourceId) || this.lateness(resource, readyAt) > this.lateLimit;
  }

  /** Resources that do not begin without a commit any more. */
  startMissed(resources: readonly ResourcePlan[]): void {
    if (resources.every(({ resourceId }) => this.missed.has(resourceId))) return;
    for (const { resourceId } of resources) this.missed.add(resourceId);
    const all = this.resources.filter(({ resourceId }) => this.missed.has(resourceId));
    log.warn("Resources missed their start time and wait for a commit", { resources: all.length });
    this.record({ type: "StartMissed", resources: all });
    // A commit is judged by what is published, also where the rest of the upgrade runs on and enters no phase.
    this.publish();
  }

  /** Whether something waits for a commit because it was not begun at its time. */
  get awaitsCommit(): boolean {
    return this.missed.size > 0;
  }

  /** Somebody wants the upgrade to begin, or begin again: what waited for that goes on. `at`: since when, epoch milliseconds. */
  asked(at: number): void {
    this.askedAt = Math.max(this.askedAt, at);
    if (this.missed.size === 0) return;
    this.missed.clear();
    this.record({ type: "StartConfirmed" });
    this.scheduleChanges++;
    this.publish();
  }

  /** The work has begun by itself, but so many seconds after its time. */
  startedLate(seconds: number): void {
    log.info("The work starts late", { seconds });
    this.record({ type: "StartedLate", seconds });
  }

  private get lateLimit(): number {
    return this.plan.lateStartMinutes * 60_000;
  }

  /** Where something new would start: waits until the upgrade is not paused. Ends early where it is cancelled. */
  async untilResumed(): Promise<void> {
    while (this.paused) await condition(() => !this.paused);
  }

  /** Somebody has cancelled the upgrade; it still ends what is in work. */
  cancelRequested(): void {
    this.isCancelling = true;
    log.info("A cancellation was requested", { phase: this.currentPhase });
    this.record({ type: "CancelRequested" });
    this.publish();
  }

  get cancelling(): boolean {
    return this.isCancelling;
  }

  /** The first prechecks of an attempt begin. As long as nothing else may begin the upgrade is scheduled. */
  enterPrechecks(): void {
    const mayNotBegin = (one: ResourcePlan) => beginTime(one) > currentTime() || this.missesStart(one);
    if (!this.paused && this.unfinished().every(mayNotBegin)) this.enter("SCHEDULED");
    else this.enterRunning();
  }

  /** Work goes on; entered once, however many resources begin. */
  enterRunning(): void {
    if (this.currentPhase !== "RUNNING" && !this.paused) this.enter("RUNNING");
  }

  /** Writes what lists and readers without a worker see. Called at changes of phase, not at every event. */
  publish(): void {
    this.published += 1;
    this.publishAttributes();
    const { task, ...others } = this.taskWithChildren();
    const { upgrade } = this;
    this.told.milestone = hostsMilestone(this.plan, this.facts);
    upsertMemo({ upgrade, task: taskInMemo(task), ...others, publishedAt: now() } satisfies UpgradeMemo);
    this.describe();
  }

  /** Writes what lists show where that has changed enough; the Task in the memo stays as it is. */
  private publishFacts(): void {
    const phaseChanged = this.publishAttributes();
    const milestone = hostsMilestone(this.plan, this.facts);
    if (phaseChanged || milestone !== this.told.milestone) upsertMemo({ upgrade: this.upgrade });
    this.told.milestone = milestone;
    this.describe();
  }

  /** Writes the search attributes where they have changed. True where clients read another phase from here on. */
  private publishAttributes(): boolean {
    const before = this.facts;
    this.facts = enterPublishedPhase(before, publishedPhase(this.phaseState), now());
    const { task, upgrade } = statusOfPhase(this.currentPhase);
    const attributes = [task, upgrade, this.facts.phase].join();
    if (attributes !== this.told.attributes)
      upsertSearchAttributes([
        { key: taskStatusKey, value: task },
        { key: upgradeStatusKey, value: upgrade },
        { key: upgradePhaseKey, value: this.facts.phase },
      ]);
    this.told.attributes = attributes;
    return this.facts !== before;
  }

  private resourceStarted(resourceId: string): void {
    this.begun.add(resourceId);
    const { startedAt = now() } = this.facts;
    const { firstReport: _ofAnEarlierAttempt, ...known } = this.facts.resources[resourceId] ?? {};
    const resources = { ...this.facts.resources, [resourceId]: { ...known, isInWork: true, isAtRest: false } };
    this.facts = { ...this.facts, startedAt, resources };
  }

  /** The draft was committed. */
  committed(by: string | undefined): void {
    this.facts = { ...this.facts, committedAt: now(), ...(by !== undefined && { committedBy: by }) };
  }

  /** Why the locks of a scheduled upgrade cannot be had now; undefined where it has them. */
  waitForLock(why: string | undefined): void {
    if (this.lockHeld === why) return;
    this.lockHeld = why;
    this.publish();
  }

  private describe(): void {
    setCurrentDetails(
      describeUpgrade({
        plan: this.plan,
        phase: this.currentPhase,
        nextTime: this.nextTime(this.unfinished()),
        hosts: [...this.hosts.values()],
        lastError: this.lastError ?? this.failedPrechecks.at(-1)?.message,
        prechecksFailed: this.failedPrechecks.length > 0,
        cancelling: this.isCancelling,
        mayBeDecided: this.currentTask.isRetryable === true,
        awaitsCommit: this.awaitsCommit,
      }),
    );
  }

  childStarted(child: ChildRun): void {
    this.children.set(child.resourceId, child);
  }

  hostsReported({ resourceId, lastError, ...report }: HostsReport): void {
    const { hosts } = report;
    if (!this.resources.some((resource) => resource.resourceId === resourceId)) return;
    this.notifier.hostsCounted(resourceId, hosts, { message: lastError, phase: this.currentPhase });
    this.hosts.set(resourceId, hosts);
    this.lastError = lastError ?? this.lastError;
    this.facts = reportHosts(this.facts, resourceId, report, currentTime());
    this.publishFacts();
  }

  /**
   * Keeps a resource's result, with what is known of its hosts where it could not say that at its end: their numbers
   * as last reported, and those that an earlier attempt has upgraded.
   */
  resourceEnded(resourceId: string, ended: ResourceResult): ResourceResult {
    const hosts = ended.hosts.total > 0 ? ended.hosts : (this.hosts.get(resourceId) ?? ended.hosts);
    const before = this.results.get(resourceId)?.upgradedHosts ?? [];
    const result = { ...ended, hosts, upgradedHosts: [...new Set([...before, ...ended.upgradedHosts])] };
    this.results.set(resourceId, result);
    this.notifier.hostsCounted(resourceId, hosts, { message: result.error?.message, phase: this.currentPhase });
    this.hosts.set(resourceId, hosts);
    this.lastError = result.error?.message ?? this.lastError;
    this.facts = reportHosts(this.facts, resourceId, result, currentTime());
    this.facts = withResourceFacts(this.facts, resourceId, { isInWork: false });
    this.publishFacts();
    return result;
  }

  /** Keeps an error that the rollout policy tolerates, for the end of the upgrade. */
  warn(error: ErrorBody): void {
    this.warnings.push(error);
  }

  resultOf(resourceId: string): ResourceResult | undefined {
    return this.results.get(resourceId);
  }

  /** Resources that still have to be upgraded, in the order of the plan. */
  unfinished(): readonly ResourcePlan[] {
    return this.resources.filter(({ resourceId }) => {
      const outcome = this.results.get(resourceId)?.outcome;
      return outcome !== "SUCCESSFUL" && outcome !== "WITHIN_TOLERANCE" && outcome !== "NOTHING_TO_DO";
    });
  }

  /** The earliest time of resources that lies ahead (epoch milliseconds), if none of them may begin now. */
  nextTime(resources: readonly ResourcePlan[]): number | undefined {
    const earliest = Math.min(...resources.map(beginTime));
    return Number.isFinite(earliest) && earliest > currentTime() ? earliest : undefined;
  }

  /** The management servers of the upgrade, as requests about their switchovers depend on them. */
  get servers(): readonly ServerStanding[] {
    return this.resources.flatMap((resource) =>
      resource.kind === "MGMT" ? [{ ...resource, hasEnded: this.results.has(resource.resourceId) }] : [],
    );
  }

  /** The time that the switchover of a management server waits for; undefined where it waits for none. */
  switchoverOf(resourceId: string): string | undefined {
    const server = this.resources.find((resource) => resource.resourceId === resourceId);
    return server?.kind === "MGMT" ? server.startSwitchoverTimestamp : undefined;
  }

  /**
   * A time given at commit replaces the resources' own ones, but for those that have begun, and so do times of switchovers;
   * what it does not say stays.
   */
  reschedule(commit: CommitSpec): void {
    const { scheduledTimestamp, upgradeNow, mgmtUpgradePatchSpecs } = commit;
    let plan = this.currentPlan;
    if (saysWhen(commit)) plan = reschedulePlan(plan, commit, this.begun);
    if (mgmtUpgradePatchSpecs) plan = rescheduleSwitchovers(plan, mgmtUpgradePatchSpecs);
    // What is asked again and again is written once.
    if (JSON.stringify(plan) === JSON.stringify(this.currentPlan)) return;
    this.currentPlan = plan;
    log.info("The upgrade was given another time", { scheduledTimestamp, upgradeNow, mgmtUpgradePatchSpecs });
    this.scheduleChanges++;
    this.publish();
  }
}

/** Counted when it happens, never in a replay: the SDK drops what a replay counts. */
function countEnd(phase: UpgradePhase, because: string): void {
  metricMeter.createCounter("ums_upgrades_ended").add(1, { phase, error_code: because });
}
