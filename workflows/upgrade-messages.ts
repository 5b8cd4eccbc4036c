import { log, setDefaultSignalHandler, setHandler } from "@temporalio/workflow";
import { isLeft, isRight, type Either } from "fp-ts/Either";
import type * as t from "io-ts";
import type { ErrorBody } from "../src/domain/error-body";
import { toTimestamp } from "../src/domain/timestamp";
import {
  badPayload,
  CommitPayload,
  judgeCommit,
  judgeResolve,
  judgeRetry,
  PlainPayload,
  type RequestContext,
  type RequestOutcome,
} from "../src/domain/upgrade-request";
import { saysWhen } from "../src/domain/upgrade-schedule";
import {
  commitSignal,
  HostsReport,
  hostsSignal,
  requestQuery,
  resolveSignal,
  retrySignal,
  taskQuery,
  taskWithChildrenQuery,
  upgradeQuery,
} from "./messages";
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
  private decision: "retry" | "resolve" | undefined;
  private awaitsResolution = false;
  private readonly outcomes = new Map<string, RequestOutcome>();
  /** Ids of commits that were accepted while the prechecks ran. */
  private earlyCommits: string[] = [];

  constructor(private readonly state: UpgradeState) {
    setHandler(taskQuery, () => state.task);
    setHandler(upgradeQuery, () => state.upgrade);
    setHandler(taskWithChildrenQuery, () => state.taskWithChildren());
    setHandler(requestQuery, (requestId) => this.outcomes.get(requestId));
    setHandler(hostsSignal, (payload) => {
      const report = HostsReport.decode(payload);
      if (isRight(report)) state.hostsReported(report.right);
    });
    setHandler(commitSignal, (payload) => this.receive("commit", CommitPayload, payload, judgeCommit, this.onCommit));
    setHandler(retrySignal, (payload) =>
      this.receive(
        "retry",
        PlainPayload,
        payload,
        (_, context) => judgeRetry(context),
        () => this.decide("retry"),
      ),
    );
    setHandler(resolveSignal, (payload) =>
      this.receive(
        "resolve",
        PlainPayload,
        payload,
        (_, context) => judgeResolve(context),
        () => this.decide("resolve"),
      ),
    );
    setDefaultSignalHandler((name) => log.warn("A Signal that upgrades do not know was dropped", { signal: name }));
  }

  get committed(): boolean {
    return this.commit !== undefined;
  }

  /** Takes the commit: its time becomes the upgrade's. */
  takeCommit(): void {
    const commit = this.commit;
    this.commit = undefined;
    this.earlyCommits = [];
    if (commit) this.state.reschedule(commit);
  }

  /** Prechecks have failed: commits that arrived while they ran are refused after all. */
  dropEarlyCommit(): void {
    this.commit = undefined;
    for (const requestId of this.earlyCommits) {
      const outcome = this.outcomes.get(requestId);
      const judged = judgeCommit({}, this.context());
      if (outcome && isLeft(judged)) this.outcomes.set(requestId, { ...outcome, accepted: false, reason: judged.left });
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

  get resolution(): "retry" | "resolve" | undefined {
    return this.decision;
  }

  private readonly onCommit = (commit: CommitPayload): void => {
    const { phase } = this.state;
    if (phase === "SCHEDULED" || phase === "ACCEPTED") {
      this.state.reschedule(commit);
      return;
    }
    // A second commit that says nothing about time leaves the time that the first has given.
    if (!this.commit || saysWhen(commit)) this.commit = commit;
    if (phase !== "DRAFT_WAITING" && commit.requestId !== undefined) this.earlyCommits.push(commit.requestId);
  };

  private decide(decision: "retry" | "resolve"): void {
    this.decision = decision;
    this.awaitsResolution = false;
  }

  private context(): RequestContext {
    const { phase, failedPrechecks } = this.state;
    const isRetryable = this.state.task.isRetryable === true;
    return { phase, failedPrechecks, awaitsResolution: this.awaitsResolution, isRetryable, now: Date.now() };
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
      this.keep({ request, accepted: false, reason: badPayload(request), ...requestIdOf(payload) });
      return;
    }
    const judged = judge(decoded.right, this.context());
    if (isRight(judged)) accept(decoded.right);
    const { requestId, requestedBy } = decoded.right;
    this.keep({
      request,
      accepted: isRight(judged),
      ...(isLeft(judged) && { reason: judged.left }),
      ...(requestId !== undefined && { requestId }),
      ...(requestedBy !== undefined && { requestedBy }),
    });
  }

  private keep(outcome: Omit<RequestOutcome, "at">): void {
    const { request, accepted, requestId, requestedBy, reason } = outcome;
    log.info(accepted ? "Request accepted" : "Request refused", {
      request,
      requestId,
      requestedBy,
      reason: reason?.message,
    });
    if (requestId === undefined) return;
    this.outcomes.set(requestId, { ...outcome, at: toTimestamp(Date.now()) });
    const oldest = this.outcomes.keys().next().value;
    if (this.outcomes.size > keptOutcomes && oldest !== undefined) this.outcomes.delete(oldest);
  }
}

/** The request id of a payload that is otherwise wrong, so that its sender can be told. */
function requestIdOf(payload: unknown): { requestId?: string } {
  const requestId =
    typeof payload === "object" && payload !== null && "requestId" in payload ? payload.requestId : undefined;
  return typeof requestId === "string" && requestId.length <= 1024 ? { requestId } : {};
}
