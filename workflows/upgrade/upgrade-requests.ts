import { log, setDefaultSignalHandler, setHandler, type SignalDefinition, workflowInfo } from "@temporalio/workflow";
import { type Either, isLeft, isRight, left } from "fp-ts/Either";
import type * as t from "io-ts";
import type { ErrorBody } from "../../src/domain/errors";
import { commits, saysWhen } from "../../src/domain/plan/schedule";
import {
  ApprovePayload,
  badPayload,
  beingCancelled,
  CommitPayload,
  type Decision,
  decideCommit,
  decidePause,
  decidePrechecks,
  decideResolve,
  decideResume,
  decideRetry,
  PlainPayload,
  RecordPayload,
  RejectPayload,
  type RequestContext,
  type RequestOutcome,
} from "../../src/domain/requests/upgrade-request";
import { decideApprove, decideReject, rejection } from "../../src/domain/requests/approvals";
import { precheckRuns } from "../../src/domain/task/prechecks";
import { toEpochMilliseconds } from "../../src/domain/timestamp";
import { currentTime, now } from "../clock";
import {
  activityQuery,
  approveSignal,
  commitSignal,
  HostsReport,
  hostsSignal,
  pauseSignal,
  prechecksSignal,
  recordSignal,
  rejectSignal,
  requestQuery,
  resolveSignal,
  resumeSignal,
  retrySignal,
  taskQuery,
  taskWithChildrenQuery,
  upgradeQuery,
} from "../messages";
import { onBehalfOf } from "../request-cause";
import type { UpgradeState } from "./upgrade-state";

/** How many outcomes are kept for `request` Queries; the oldest go first. */
const keptOutcomes = 500;

/**
 * What operators have asked of an upgrade. Handlers only decide and record, here and now, and never throw: an error
 * in a Signal handler would block the Workflow. The Workflow waits for the decisions.
 */
export class UpgradeRequests {
  /** The commit that takes effect when the prechecks have passed. */
  private commit: CommitPayload | undefined;
  private prechecksWanted = false;
  private decision: Decision | undefined;
  private awaitsResolution = false;
  private readonly outcomes = new Map<string, RequestOutcome>();
  /** Commits that were accepted while the prechecks ran. */
  private earlyCommits: CommitPayload[] = [];

  /** `outcomes`: of requests that earlier runs have received. */
  constructor(
    private readonly state: UpgradeState,
    outcomes: readonly RequestOutcome[] = [],
  ) {
    for (const outcome of outcomes) if (outcome.requestId !== undefined) this.outcomes.set(outcome.requestId, outcome);
    // Signals that have arrived already are judged while the handlers are set.
    this.awaitsResolution = state.phase === "FAILED";
    setHandler(taskQuery, () => state.task);
    setHandler(upgradeQuery, () => state.publication.upgrade);
    setHandler(taskWithChildrenQuery, () => state.publication.taskWithChildren);
    setHandler(activityQuery, () => state.activity.record);
    setHandler(requestQuery, (requestId) => this.outcomes.get(requestId));
    setHandler(hostsSignal, (payload) => {
      const report = HostsReport.decode(payload);
      if (isRight(report)) state.hostsReported(report.right);
    });
    setHandler(recordSignal, (payload) => {
      const record = RecordPayload.decode(payload);
      if (isRight(record)) state.activity.recorded(record.right, state.phase);
    });
    setHandler(commitSignal, (payload) => this.receive("commit", CommitPayload, payload, decideCommit, this.onCommit));
    setHandler(approveSignal, (payload) =>
      this.receive("approve", ApprovePayload, payload, decideApprove, ({ requestedBy = "", comment }) =>
        state.approved({ by: requestedBy, at: now(), ...(comment !== undefined && { comment }) }),
      ),
    );
    setHandler(rejectSignal, (payload) =>
      this.receive("reject", RejectPayload, payload, decideReject, ({ requestedBy = "", comment }) =>
        state.rejected(rejection(requestedBy, comment)),
      ),
    );
    this.onPlain(pauseSignal, "pause", decidePause, () => state.enter("PAUSED"));
    this.onPlain(resumeSignal, "resume", decideResume, (request) => state.resume(timeOf(request)));
    this.onPlain(prechecksSignal, "prechecks", decidePrechecks, () => this.onPrechecks());
    this.onPlain(retrySignal, "retry", decideRetry, () => {
      this.decide("retry");
      state.asked(currentTime());
    });
    this.onPlain(resolveSignal, "resolve", decideResolve, () => this.decide("resolve"));
    setDefaultSignalHandler((name) => log.warn("An unknown Signal was dropped", { signal: name }));
  }

  /** The outcomes of requests, oldest first, for the next run. */
  get received(): readonly RequestOutcome[] {
    return [...this.outcomes.values()];
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
    for (const commit of this.earlyCommits) {
      const outcome = this.outcomes.get(commit.requestId ?? "");
      const judged = decideCommit({}, this.context());
      if (!isLeft(judged)) continue;
      const reason = judged.left;
      this.state.activity.requested({ request: "commit", ...commit }, this.state.phase, { reason });
      if (outcome?.requestId !== undefined)
        this.outcomes.set(outcome.requestId, { ...outcome, accepted: false, reason });
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

  private readonly onCommit = (commit: CommitPayload): void => {
    const { phase, awaitsCommit } = this.state;
    if (commits(commit)) this.state.asked(timeOf(commit));
    this.state.approvals.askedBy(commit.requestedBy);
    if (phase === "SCHEDULED" || phase === "ACCEPTED" || awaitsCommit || !commits(commit)) {
      this.state.reschedule(commit);
      return;
    }
    // A second commit that says nothing about time leaves the time that the first has given.
    if (!this.commit || saysWhen(commit)) this.commit = commit;
    if (phase !== "DRAFT_WAITING") this.earlyCommits.push(commit);
  };

  /** From here on the prechecks run, so that a second request is refused. */
  private onPrechecks(): void {
    this.prechecksWanted = true;
    this.state.enter("DRAFT_PRECHECKS");
  }

  private decide(decision: Decision): void {
    this.decision = decision;
    this.awaitsResolution = false;
  }

  /** Signals that say nothing but their name. */
  private onPlain(
    signal: SignalDefinition<[payload?: unknown]>,
    request: RequestOutcome["request"],
    judge: (context: RequestContext) => Either<ErrorBody, void>,
    accept: (request: PlainPayload) => void,
  ): void {
    setHandler(signal, (payload) => {
      this.receive(request, PlainPayload, payload, (_, context) => judge(context), accept);
    });
  }

  private context(): RequestContext {
    const { phase, failedPrechecks } = this.state;
    const isRetryable = this.state.task.isRetryable === true;
    const { awaitsResolution, decision, committed } = this;
    const { cancelling, awaitsCommit: startMissed } = this.state;
    const { historyLength, historySize } = workflowInfo();
    const history = { events: historyLength, bytes: historySize };
    const now = currentTime();
    const servers = this.state.known.servers(this.state.resources);
    const asked = { awaitsResolution, decision, committed, startMissed, cancelling, servers };
    return { phase, failedPrechecks, isRetryable, ...asked, ...this.state.approvalContext, history, now };
  }

  private receive<P extends PlainPayload>(
    request: RequestOutcome["request"],
    codec: t.Type<P, unknown, unknown>,
    payload: unknown,
    judge: (payload: P, context: RequestContext) => Either<ErrorBody, unknown>,
    accept: (payload: P) => void,
  ): void {
    const decoded = codec.decode(payload ?? {});
    if (isLeft(decoded)) {
      const reason = badPayload(request);
      this.state.activity.requested({ request }, this.state.phase, { reason });
      this.keep({ request, accepted: false, reason, ...requestIdOf(payload) });
      return;
    }
    const { requestId, requestedBy, referenceToken } = decoded.right;
    const repeated = requestId !== undefined && this.outcomes.get(requestId)?.request === request;
    if (repeated) {
      log.info("A repeated request was dropped", { request, signalId: requestId });
      return;
    }
    const context = this.context();
    const judged = context.cancelling ? left(beingCancelled(request, context)) : judge(decoded.right, context);
    const accepted = isRight(judged);
    const reason = isLeft(judged) ? judged.left : undefined;
    const run = accepted && request === "prechecks" ? { run: precheckRuns(this.state.task) + 1 } : {};
    // Before what it brings about is told.
    this.state.activity.requested({ request, ...decoded.right }, context.phase, { reason, ...run });
    onBehalfOf(referenceToken, () => {
      if (accepted) {
        this.state.notifier.requested(request, requestedBy);
        accept(decoded.right);
      }
      this.keep({
        request,
        accepted,
        ...(reason && { reason }),
        ...(requestId !== undefined && { requestId }),
        ...(requestedBy !== undefined && { requestedBy }),
        ...run,
      });
      // A pause and its end change when things are done, not why.
      return { goesOn: accepted && request !== "pause" && request !== "resume" };
    });
  }

  private keep(outcome: Omit<RequestOutcome, "at">): void {
    const { request, accepted, requestId, requestedBy, reason } = outcome;
    log.info(accepted ? "Request accepted" : "Request refused", {
      request,
      signalId: requestId,
      requestedBy,
      ...(reason && { errorCode: reason.errorCode, reason: reason.message }),
    });
    if (requestId === undefined) return;
    this.outcomes.set(requestId, { ...outcome, at: now() });
    const oldest = this.outcomes.keys().next().value;
    if (this.outcomes.size > keptOutcomes && oldest !== undefined) this.outcomes.delete(oldest);
  }
}

/** When a request was sent, as far as it says; it may have waited for a worker since (epoch milliseconds). */
function timeOf({ requestedAt }: PlainPayload): number {
  return Math.min(currentTime(), requestedAt === undefined ? Infinity : toEpochMilliseconds(requestedAt));
}

/** The request id of a payload that is otherwise wrong, so that its sender can be told. */
function requestIdOf(payload: unknown): { requestId?: string } {
  const requestId =
    typeof payload === "object" && payload !== null && "requestId" in payload ? payload.requestId : undefined;
  return typeof requestId === "string" && requestId.length <= 1024 ? { requestId } : {};
}
