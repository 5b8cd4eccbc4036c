import { setCurrentDetails, upsertMemo, upsertSearchAttributes, workflowInfo } from "@temporalio/workflow";
import type { ErrorBody } from "../../src/domain/errors";
import type { LongWait } from "../../src/domain/notifications/upgrade-notification";
import { resourcesOf } from "../../src/domain/plan/upgrade-plan";
import type { Task } from "../../src/domain/spec/task";
import { statusOfPhase, type Upgrade, type UpgradePhase } from "../../src/domain/spec/upgrade";
import { prechecksPassed } from "../../src/domain/task/prechecks";
import { taskInMemo } from "../../src/domain/task/task-change";
import { type PhaseState, publishedPhase } from "../../src/domain/upgrade/published-phase";
import { hostsInWork, hostsMilestone, isInWork, upgradeWithFacts } from "../../src/domain/upgrade/upgrade-facts";
import { currentTime, now } from "../clock";
import { describeUpgrade } from "../details";
import type { TaskWithChildren, UpgradeMemo } from "../messages";
import { taskStatusKey, upgradePhaseKey, upgradeStatusKey } from "../search-attributes";
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
  readonly decision: PhaseState["decision"];
  readonly decideBy: number;
  readonly failedPrechecks: readonly ErrorBody[];
  readonly lastError: string | undefined;
  readonly approvals: Pick<Approvals, "told" | "wanted">;
}

/** Where an upgrade is shown beside its Task: the Upgrade, memo, search attributes and the details in the Web UI. */
export class UpgradePublication {
  /** What lists have been told last: search attributes, and the milestone of the hosts. */
  private told = { attributes: "", milestone: "" };
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
      now: currentTime(),
      approvals: this.state().approvals.told,
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
    upsertMemo({ upgrade, task: taskInMemo(task), ...others, publishedAt: now() } satisfies UpgradeMemo);
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
    return phaseChanged;
  }

  private describe(): void {
    const { phase, cancelling, failedPrechecks, lastError, task } = this.state();
    setCurrentDetails(
      describeUpgrade({
        ...{ phase, cancelling },
        plan: this.times.plan,
        nextTime: this.times.next(this.unfinished),
        hosts: this.known.hostCounts,
        lastError: lastError ?? failedPrechecks.at(-1)?.message,
        prechecksFailed: failedPrechecks.length > 0,
        mayBeDecided: task.isRetryable === true,
        awaitsCommit: this.times.awaitCommit,
        approvalsWanted: this.approvalsWanted,
        requestedBy: this.isContinued ? (requestedBy() ?? "an unknown caller") : undefined,
      }),
    );
  }

  /** All that the phase which clients read follows from. */
  private get phaseState(): PhaseState {
    const { phase, cancelling, decision, lastError, lockHeld, failedPrechecks, task, ...state } = this.state();
    const { facts } = this.known;
    return {
      ...{ phase, cancelling, decision, lastError, lockHeld: lockHeld?.message },
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
