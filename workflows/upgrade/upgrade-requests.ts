import { setHandler, workflowInfo } from "@temporalio/workflow";
import { isLeft, isRight } from "fp-ts/Either";
import type { ActivityVia } from "../../src/domain/activity/upgrade-activity";
import { CheckDecision, resourceOfAsk } from "../../src/domain/checks/own-check";
import { commits, saysWhen } from "../../src/domain/plan/schedule";
import { rejection } from "../../src/domain/requests/approvals";
import { isSkipped } from "../../src/domain/requests/skip";
import {
  type CommitPayload,
  type Decision,
  decideCommit,
  isDraft,
  type PlainPayload,
  RecordPayload,
  type RequestContext,
  type RequestOutcome,
  type RetryPayload,
  type SkipPayload,
} from "../../src/domain/requests/upgrade-request";
import type { SkippedBy } from "../../src/domain/task/left-out";
import { toEpochMilliseconds } from "../../src/domain/timestamp";
import { currentTime, now } from "../clock";
import { InternalSignals } from "../internal-signals";
import {
  activityQuery,
  checkDecidedSignal,
  CheckFailed,
  checkFailedSignal,
  HostSkipAnswer,
  hostSkippedSignal,
  HostsReport,
  hostsSignal,
  queryDescriptions,
  recordSignal,
  taskQuery,
  taskWithChildrenQuery,
  upgradeQuery,
} from "../messages";
import type { HostSkips } from "./host-skips";
import { type RequestEffects, RequestIntake, type RequestQuestions } from "./request-intake";
import type { UpgradeState } from "./upgrade-state";

/** What operators have asked of an upgrade, and the Workflow has yet to do. */
export class UpgradeRequests {
  /** The commit that takes effect when the prechecks have passed. */
  private commit: CommitPayload | undefined;
  private prechecksWanted = false;
  private decision: Decision | undefined;
  private awaitsResolution = false;
  private readonly intake: RequestIntake;
  /** Commits that were accepted while the prechecks ran. */
  private earlyCommits: { readonly commit: CommitPayload; readonly via: ActivityVia }[] = [];

  /** `outcomes`: of requests that earlier runs have received. */
  constructor(
    private readonly state: UpgradeState,
    outcomes: readonly RequestOutcome[] = [],
  ) {
    // Requests that have arrived already are decided while the handlers are set.
    this.awaitsResolution = state.phase === "FAILED";
    this.onQueries();
    const effects: RequestEffects = {
      commit: this.onCommit,
      pause: () => state.enter("PAUSED"),
      resume: (request) => state.resume(timeOf(request)),
      prechecks: () => this.onPrechecks(),
      retry: (scope, via) => {
        this.scopeRetry(scope, via);
        this.decide("retry");
        state.asked(currentTime());
      },
      resolve: () => this.decide("resolve"),
      approve: ({ requestedBy = "", comment }) =>
        state.approved({ by: requestedBy, at: now(), ...(comment !== undefined && { comment }) }),
      reject: ({ requestedBy = "", comment }) => state.rejected(rejection(requestedBy, comment)),
      acknowledge: ({ requestedBy, reason, until, ...asked }) =>
        state.acknowledgements.add(asked, {
          by: requestedBy,
          at: now(),
          reason,
          ...(until !== undefined && { until }),
        }),
      skip: ({ resourceId, hostId, hostName, ...request }) => {
        const why = whyLeftOut(request);
        if (hostId === undefined) state.skipResource(resourceId, why);
        else state.skipHost({ resourceId, hostId, ...(hostName !== undefined && { hostName }), ...why });
      },
    };
    const questions: RequestQuestions = { skip: (request) => this.askCluster(request) };
    this.intake = new RequestIntake(state, { context: () => this.context(), effects, questions }, outcomes);
    this.onInternalSignals();
  }

  private onQueries(): void {
    const { state } = this;
    setHandler(taskQuery, () => state.task, { description: queryDescriptions.task });
    setHandler(upgradeQuery, () => state.publication.upgrade, { description: queryDescriptions.upgrade });
    setHandler(taskWithChildrenQuery, () => state.publication.taskWithChildren, {
      description: queryDescriptions.taskWithChildren,
    });
    setHandler(activityQuery, () => state.activity.record, { description: queryDescriptions.activity });
  }

  /** From the Workflows of resources, and from the API. */
  private onInternalSignals(): void {
    const { state } = this;
    const signals = new InternalSignals();
    signals.on(hostsSignal, (payload) => {
      const report = HostsReport.decode(payload);
      if (isRight(report)) state.hostsReported(report.right);
    });
    signals.on(checkDecidedSignal, (payload) => {
      const decision = CheckDecision.decode(payload);
      if (isRight(decision)) this.onCheckDecided(decision.right);
    });
    signals.on(checkFailedSignal, (payload) => {
      const failed = CheckFailed.decode(payload);
      if (isRight(failed)) state.checkGate.checkFailed(failed.right);
    });
    signals.on(hostSkippedSignal, (payload) => {
      const answer = HostSkipAnswer.decode(payload);
      if (isRight(answer)) state.hostSkips.answered(answer.right);
    });
    signals.on(recordSignal, (payload) => {
      const record = RecordPayload.decode(payload);
      if (isRight(record)) state.activity.recorded(record.right, state.phase);
    });
    signals.dropOthers();
  }

  /** A decision of an ask that is not the upgrade's own is for the resource that has asked. */
  private onCheckDecided(decision: CheckDecision): void {
    const { checkDecisions, known, locked } = this.state;
    if (checkDecisions.decided(decision)) return;
    const asker = resourceOfAsk(decision.askId);
    if (asker === undefined || !known.isInWork(asker)) return;
    locked
      .get(asker)
      ?.tell(checkDecidedSignal, decision)
      .catch(() => undefined);
  }

  /** The outcomes of requests, oldest first, for the next run. */
  get received(): readonly RequestOutcome[] {
    return this.intake.received;
  }

  private get committed(): boolean {
    return this.commit !== undefined;
  }

  /** Whether the prechecks of the draft are to run again; says so once. */
  takePrechecks(): boolean {
    const wanted = this.prechecksWanted;
    this.prechecksWanted = false;
    return wanted;
  }

  /** Whether a draft that waits has something to do. */
  get draftMayGoOn(): boolean {
    return this.committed || this.prechecksWanted;
  }

  /** Takes the commit: its time becomes the upgrade's. */
  takeCommit(): void {
    const commit = this.commit;
    this.commit = undefined;
    this.earlyCommits = [];
    if (!commit) return;
    this.state.known.committed(commit.requestedBy);
    this.state.reschedule(commit);
  }

  /** Prechecks have failed: commits that arrived while they ran are refused after all. */
  dropEarlyCommit(): void {
    this.commit = undefined;
    this.state.acknowledgements.noticeEnds();
    for (const { commit, via } of this.earlyCommits) {
      const judged = decideCommit({}, this.context());
      if (!isLeft(judged)) continue;
      const reason = judged.left;
      this.state.activity.requested({ request: "commit", ...commit, via }, this.state.phase, { reason });
      this.intake.refuseAfterAll(commit.requestId, reason);
    }
    this.earlyCommits = [];
  }

  /** From here a failed upgrade can be retried or resolved. */
  awaitResolution(): void {
    this.decision = undefined;
    this.awaitsResolution = true;
  }

  endResolution(): void {
    this.awaitsResolution = false;
  }

  get resolution(): Decision | undefined {
    return this.decision;
  }

  private readonly onCommit = (commit: CommitPayload, via: ActivityVia): void => {
    const { phase } = this.state;
    if (commits(commit)) this.state.asked(timeOf(commit));
    this.state.askedBy(commit);
    if (!isDraft(phase) || !commits(commit)) {
      this.state.reschedule(commit);
      return;
    }
    // A second commit that says nothing about time leaves the time that the first has given.
    this.commit = withFormer(commit, this.commit);
    if (phase !== "DRAFT_WAITING") this.earlyCommits.push({ commit, via });
  };

  /** Of a host in a cluster that is in work the cluster itself has to say whether it has begun. */
  private askCluster(request: SkipPayload): ReturnType<HostSkips["ask"]> | undefined {
    const { resourceId, hostId } = request;
    const { known, locked, hostSkips } = this.state;
    if (hostId === undefined || !known.isInWork(resourceId)) return undefined;
    const cluster = locked.get(resourceId);
    if (!cluster || isSkipped({ resourceId, hostId }, known.skippedHosts)) return undefined;
    return hostSkips.ask(cluster, { ...request, hostId });
  }

  /** What the next attempt leaves out, and what it is about. */
  private scopeRetry(
    { resourceIds, skipResources = [], skipHosts = [], reason = "Left out at the retry.", ...request }: RetryPayload,
    via: ActivityVia,
  ): void {
    const { state } = this;
    const why = whyLeftOut({ ...request, reason });
    const skipped = [...skipResources.map((resourceId) => ({ resourceId })), ...skipHosts];
    for (const one of skipped)
      state.activity.requested({ ...request, request: "skip", ...one, reason, via }, state.phase);
    for (const resourceId of skipResources) state.skipResource(resourceId, why);
    for (const host of skipHosts) state.skipHost({ ...host, ...why });
    state.known.attemptOnly(resourceIds);
  }

  /** From here on the prechecks run, so that a second request is refused. */
  private onPrechecks(): void {
    this.prechecksWanted = true;
    this.state.enter("DRAFT_PRECHECKS");
  }

  private decide(decision: Decision): void {
    this.decision = decision;
    this.awaitsResolution = false;
  }

  private context(): RequestContext {
    const { phase, failedPrechecks } = this.state;
    const isRetryable = this.state.task.isRetryable === true;
    const { awaitsResolution, decision, committed } = this;
    const { cancelling, awaitsCommit: startMissed } = this.state;
    const { historyLength, historySize } = workflowInfo();
    const history = { events: historyLength, bytes: historySize };
    const { context: prechecked } = this.state.acknowledgements;
    const now = currentTime();
    const servers = this.state.known.servers(this.state.resources);
    const asked = { awaitsResolution, decision, committed, startMissed, cancelling, servers };
    const { skippedHosts } = this.state.known;
    const left = { resources: this.state.known.standings(this.state.plan), skippedHosts };
    return {
      ...left,
      ...{ phase, failedPrechecks, isRetryable, ...asked, ...this.state.approvalContext, prechecked, now },
      history,
    };
  }
}

function whyLeftOut({ reason, requestedBy }: Pick<SkipPayload, "reason" | "requestedBy">): SkippedBy {
  return { reason, ...(requestedBy !== undefined && { by: requestedBy }) };
}

/** When a request was sent, as far as it says; it may have waited for a worker since (epoch milliseconds). */
function timeOf({ requestedAt }: PlainPayload): number {
  return Math.min(currentTime(), requestedAt === undefined ? Infinity : toEpochMilliseconds(requestedAt));
}

/** A commit with the time and the override that an earlier one has given and it does not. */
function withFormer(commit: CommitPayload, former: CommitPayload | undefined): CommitPayload {
  if (!former) return commit;
  const { maintenanceWindow, reason, requestedBy } = commit.maintenanceWindow === undefined ? former : commit;
  return {
    ...(saysWhen(commit) ? commit : former),
    ...(maintenanceWindow !== undefined && { maintenanceWindow, reason, requestedBy }),
  };
}
