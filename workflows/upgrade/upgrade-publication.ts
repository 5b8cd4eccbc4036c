import { setCurrentDetails, upsertMemo, upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";
import type { ErrorBody } from "../../src/domain/errors";
import type { Closed } from "../../src/domain/opening";
import type { LongWait } from "../../src/domain/notifications/upgrade-notification";
import { type ResourcePlan, resourcesOf } from "../../src/domain/plan/upgrade-plan";
import type { Task } from "../../src/domain/spec/task";
import { hasEnded, statusOfPhase, type Upgrade, type UpgradePhase } from "../../src/domain/spec/upgrade";
import type { ApprovalContext } from "../../src/domain/requests/approvals";
import { offeredRequests } from "../../src/domain/requests/offered-requests";
import type { OperatorRequest } from "../../src/domain/requests/upgrade-request";
import { countFindings } from "../../src/domain/task/findings";
import { prechecksPassed } from "../../src/domain/task/prechecks";
import { taskInMemo } from "../../src/domain/task/task-change";
import { toTimestamp } from "../../src/domain/timestamp";
import { workOfClusters } from "../../src/domain/upgrade/cluster-work";
import { startsAt } from "../../src/domain/upgrade/list-columns";
import { type PhaseState, phaseWait, publishedPhase } from "../../src/domain/upgrade/published-phase";
import { hostsInWork, hostsMilestone, isInWork, upgradeWithFacts } from "../../src/domain/upgrade/upgrade-facts";
import { currentTime, now } from "../clock";
import { describeUpgrade } from "../details";
import { showStartsAt } from "../list-columns";
import type { TaskWithChildren, UpgradeMemo } from "../messages";
import { taskStatusKey, upgradePhaseKey, upgradeStatusKey } from "../search-attributes";
import type { Acknowledgements } from "./acknowledgements";
import type { Approvals } from "./approvals";
import type { KnownResources } from "./known-resources";
import type { UpgradeTimes } from "./upgrade-times";

/** What an upgrade publishes of itself, as it stands now. */
export interface Publishable {
  readonly phase: UpgradePhase;
  /** When the phase was entered, a Timestamp. */
  readonly phaseSince: string;
  readonly task: Task;
  readonly cancelling: boolean;
  readonly isPrechecking: boolean;
  /** Of a scheduled upgrade, the lock that it has to wait for. */
  readonly lockHeld: (LongWait & { readonly since: string }) | undefined;
  /** Why a freeze or a maintenance window keeps something of it from beginning. */
  readonly closed: Closed | undefined;
  readonly decision: PhaseState["decision"];
  readonly decideBy: number;
  readonly failedPrechecks: readonly ErrorBody[];
  readonly lastError: string | undefined;
  readonly approvals: Pick<Approvals, "told" | "wanted">;
  readonly acknowledgements: Pick<Acknowledgements, "context">;
  /** What a decision on an approval depends on beside the phase. */
  readonly approvalContext: Omit<ApprovalContext, "phase">;
}

/** Where an upgrade is shown beside its Task: the Upgrade, memo, search attributes and the details in the Web UI. */
export class UpgradePublication {
  /** What lists have been told last: search attributes, when the work starts, and the milestone of the hosts. */
  private told: { attributes: string; milestone: string; startsAt: string | undefined };
  private count: number;
  /** Whether an earlier run has continued as this one. */
  private readonly isContinued: boolean;

  /** `before`: how often earlier runs have published it. */
  constructor(
    private readonly state: () => Publishable,
    private readonly times: UpgradeTimes,
    private readonly known: KnownResources,
    before?: { readonly published?: number },
  ) {
    this.count = before?.published ?? 0;
    this.isContinued = before !== undefined;
    this.told = { attributes: "", milestone: "", startsAt: this.startsAt };
  }

  get taskWithChildren(): TaskWithChildren {
    return { task: this.state().task, children: this.known.runs, published: this.count };
  }

  get upgrade(): Upgrade {
    const createdBy = requestedBy();
    return upgradeWithFacts(this.times.plan, this.known.facts, {
      state: this.phaseState,
      phaseSince: this.state().phaseSince,
      unfinished: this.unfinished,
      leftOut: this.known.leftOut,
      skippedHosts: this.known.skippedHosts,
      now: currentTime(),
      approvals: this.state().approvals.told,
      findings: countFindings(this.state().task, currentTime()),
      ...(createdBy !== undefined && { createdBy }),
    });
  }

  /** Writes what lists and readers without a worker see. Called at changes of phase, not at every event. */
  publish(): void {
    this.count += 1;
    this.publishAttributes();
    const { upgrade } = this;
    const { task, ...others } = this.taskWithChildren;
    this.told.milestone = this.milestone;
    const work = hasEnded(this.state().phase) ? workOfClusters(this.times.plan, this.known.facts) : [];
    upsertMemo({
      ...{ upgrade, task: taskInMemo(task), ...others, publishedAt: now() },
      ...(work.length > 0 && { work }),
    } satisfies UpgradeMemo);
    this.describe();
  }

  /** Writes what lists show where that has changed enough; the Task in the memo stays as it is. */
  publishFacts(): void {
    const phaseChanged = this.publishAttributes();
    const { milestone } = this;
    if (phaseChanged || milestone !== this.told.milestone) upsertMemo({ upgrade: this.upgrade });
    this.told.milestone = milestone;
    this.describe();
  }

  /** Writes the search attributes where they have changed. True where clients read another phase from here on. */
  private publishAttributes(): boolean {
    const { phaseState } = this;
    const phase = publishedPhase(phaseState);
    const phaseChanged = this.known.enterPublishedPhase(phase);
    const { task, upgrade } = statusOfPhase(phaseState.phase);
    const attributes = [task, upgrade, phase].join();
    if (attributes !== this.told.attributes)
      upsertSearchAttributes([
        { key: taskStatusKey, value: task },
        { key: upgradeStatusKey, value: upgrade },
        { key: upgradePhaseKey, value: phase },
      ]);
    this.told.attributes = attributes;
    const starts = this.startsAt;
    if (starts !== this.told.startsAt) showStartsAt(starts);
    this.told.startsAt = starts;
    return phaseChanged;
  }

  /** Says what an operator reads first in the Temporal Web UI. */
  describe(): void {
    const { failedPrechecks, lastError, task } = this.state();
    const { phaseState } = this;
    const { phase, since } = this.known.facts;
    const { decideBy } = phaseState;
    setCurrentDetails(
      describeUpgrade({
        ...{ phase, since },
        plan: this.times.plan,
        status: statusOfPhase(phaseState.phase).upgrade,
        waitsFor: phaseWait(phaseState)?.message,
        offered: this.offered,
        mayBeCancelled: task.isCancellable === true,
        decideBy: decideBy === undefined ? undefined : toTimestamp(decideBy),
        hosts: this.known.hostCounts,
        inWork: this.inWork,
        lastError: lastError ?? failedPrechecks.at(-1)?.message,
        namespace: workflowInfo().namespace,
        requestedBy: this.isContinued ? (requestedBy() ?? "an unknown caller") : undefined,
      }),
    );
  }

  /** The requests that it takes now. */
  private get offered(): readonly OperatorRequest[] {
    const { phase, failedPrechecks, decision, cancelling, task, approvalContext, acknowledgements } = this.state();
    const { historyLength, historySize } = workflowInfo();
    return offeredRequests({
      ...{ phase, failedPrechecks, cancelling },
      ...approvalContext,
      prechecked: acknowledgements.context,
      awaitsResolution: phase === "FAILED" && decision === "OPEN",
      isRetryable: task.isRetryable === true,
      committed: false,
      startMissed: this.times.awaitCommit,
      servers: this.known.servers(resourcesOf(this.times.plan)),
      resources: this.known.standings(this.times.plan),
      skippedHosts: this.known.skippedHosts,
      history: { events: historyLength, bytes: historySize },
      now: currentTime(),
    });
  }

  /** The names of what is being done now. */
  private get inWork(): readonly string[] {
    const works = ({ resourceId }: ResourcePlan) => {
      const { isInWork: begun, isAtRest } = this.known.facts.resources[resourceId] ?? {};
      return begun === true && isAtRest !== true;
    };
    const names = resourcesOf(this.times.plan)
      .filter(works)
      .map(({ name }) => name);
    return this.state().isPrechecking ? ["prechecks", ...names] : names;
  }

  private get startsAt(): string | undefined {
    return startsAt(this.times.plan, this.known.facts);
  }

  /** All that the phase which clients read follows from. */
  private get phaseState(): PhaseState {
    const { phase, cancelling, decision, lastError, lockHeld, closed, failedPrechecks, task, ...state } = this.state();
    const { facts } = this.known;
    return {
      ...{ phase, cancelling, decision, lastError, closed, lockHeld: lockHeld?.message },
      failedPrechecks: failedPrechecks.map(({ message }) => message),
      missedStart: this.times.awaitCommit ? task.waitingFor : undefined,
      inWork: state.isPrechecking || isInWork(facts),
      hostsInWork: hostsInWork(facts),
      nextTime: this.times.next(this.unfinished),
      decideBy: phase === "FAILED" ? state.decideBy : undefined,
      approvalsWanted: this.approvalsWanted,
    };
  }

  /** What approvals it lacks where they can be given, in words of people. */
  get approvalsWanted(): string | undefined {
    const { approvals, task } = this.state();
    return prechecksPassed(task) ? approvals.wanted : undefined;
  }

  private get unfinished() {
    return this.known.unfinished(resourcesOf(this.times.plan));
  }

  private get milestone(): string {
    return hostsMilestone(this.times.plan, this.known.facts);
  }
}

/** Who has started the upgrade, as far as its memo says. */
export function requestedBy(): string | undefined {
  const requestedBy = workflowInfo().memo?.["requestedBy"];
  return typeof requestedBy === "string" ? requestedBy : undefined;
}
