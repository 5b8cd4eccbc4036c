import { ApplicationFailure, currentUpdateInfo, log, setHandler, workflowInfo } from "@temporalio/workflow";
import { type Either, isLeft, isRight, left, map } from "fp-ts/Either";
import type { ActivityVia } from "../../src/domain/activity/upgrade-activity";
import type { ErrorBody } from "../../src/domain/errors";
import { type RequestPayloads, requestRules } from "../../src/domain/requests/request-rules";
import {
  badPayload,
  beingCancelled,
  hasNoRoomInWork,
  type OperatorRequest,
  operatorRequests,
  type RequestContext,
  type RequestOutcome,
} from "../../src/domain/requests/upgrade-request";
import { hasEnded } from "../../src/domain/spec/upgrade";
import { precheckRuns } from "../../src/domain/task/prechecks";
import { now } from "../clock";
import { queryDescriptions, requestQuery, requestSignals, requestUpdates } from "../messages";
import { onBehalfOf } from "../request-cause";
import type { UpgradeState } from "./upgrade-state";

/** How many outcomes are kept for `request` Queries; the oldest go first. */
const keptOutcomes = 500;

/** What an upgrade does when it has accepted a request. */
export type RequestEffects = {
  readonly [N in OperatorRequest]: (payload: RequestPayloads[N], via: ActivityVia) => void;
};

/**
 * Requests that somebody else has to decide on as well: how they have decided, with the request as it counts then, or undefined
 * where they could not. The request is decided again then.
 */
export type RequestQuestions = {
  readonly [N in OperatorRequest]?: (
    payload: RequestPayloads[N],
  ) => Promise<Either<ErrorBody, RequestPayloads[N]> | undefined> | undefined;
};

/** What requests are decided by, and what they do. */
interface RequestHandling {
  readonly context: () => RequestContext;
  readonly effects: RequestEffects;
  readonly questions: RequestQuestions;
}

/**
 * Where requests of operators arrive, by Signal or by Update: decides on them, writes the activity log, and keeps what became of
 * them. Handlers decide here and now, so that none is unfinished when the Workflow continues as new or ends; questions are
 * asked only of what is in work, and end with it. They never throw, because an error in a Signal handler would block the
 * Workflow; an Update that is refused fails with the reason.
 */
export class RequestIntake {
  private readonly outcomes = new Map<string, RequestOutcome>();
  /** How many requests this run of the Workflow has accepted. */
  private accepted = 0;

  /** `before`: outcomes of requests that earlier runs have received. Requests that have arrived already are decided here. */
  constructor(
    private readonly state: UpgradeState,
    private readonly handling: RequestHandling,
    before: readonly RequestOutcome[],
  ) {
    for (const outcome of before) if (outcome.requestId !== undefined) this.outcomes.set(outcome.requestId, outcome);
    setHandler(requestQuery, (requestId) => this.outcomes.get(requestId), { description: queryDescriptions.request });
    for (const name of operatorRequests) this.listen(name, handling.effects[name]);
  }

  /** The outcomes of requests, oldest first, for the next run. */
  get received(): readonly RequestOutcome[] {
    return [...this.outcomes.values()];
  }

  /** A request that was accepted is refused after all. */
  refuseAfterAll(requestId: string | undefined, reason: ErrorBody): void {
    const outcome = this.outcomes.get(requestId ?? "");
    if (outcome?.requestId !== undefined) this.outcomes.set(outcome.requestId, { ...outcome, accepted: false, reason });
  }

  /** One request, by both ways. */
  private listen<N extends OperatorRequest>(name: N, accept: RequestEffects[N]): void {
    const { description } = requestRules[name];
    const request: OperatorRequest = name;
    setHandler(requestSignals[request], (payload) => void this.receive(name, payload, accept), { description });
    setHandler(requestUpdates[request], (payload) => this.answer(name, payload, accept), {
      description,
      validator: (payload) => this.validate(name, payload),
    });
  }

  /** An Update is answered with the outcome, or fails with the reason of its refusal. */
  private async answer<N extends OperatorRequest>(
    name: N,
    payload: unknown,
    accept: RequestEffects[N],
  ): Promise<RequestOutcome> {
    const outcome = await this.receive(name, payload, accept, currentUpdateInfo()?.id);
    if (!outcome.accepted) throw refusal(outcome.reason ?? badPayload(name));
    return outcome;
  }

  /**
   * Refuses an Update before Temporal writes it down, where nothing is to be kept of it: it cannot be read, the upgrade has
   * ended, or its history is full. Every other refusal is for the activity log (docs/decisions/0039).
   */
  private validate<N extends OperatorRequest>(name: N, payload: unknown): void {
    const decoded = requestRules[name].payload.decode(payload ?? {});
    if (isLeft(decoded)) throw refusal(badPayload(name));
    const { phase } = this.state;
    const { historyLength, historySize } = workflowInfo();
    const history = { events: historyLength, bytes: historySize };
    if ((!hasEnded(phase) || phase === "FAILED") && !hasNoRoomInWork({ history, requests: this.accepted })) return;
    const judged = this.judge(name, decoded.right, this.context());
    if (isLeft(judged)) throw refusal(judged.left);
  }

  private context(): RequestContext {
    return { ...this.handling.context(), requests: this.accepted };
  }

  private judge<N extends OperatorRequest>(
    name: N,
    payload: RequestPayloads[N],
    context: RequestContext,
  ): Either<ErrorBody, unknown> {
    return context.cancelling ? left(beingCancelled(name, context)) : requestRules[name].decide(payload, context);
  }

  /** Decides on a request and does what it asks for. `updateId`: of the Update that it came by; the Signals have none. */
  private receive<N extends OperatorRequest>(
    request: N,
    payload: unknown,
    accept: RequestEffects[N],
    updateId?: string,
  ): RequestOutcome | Promise<RequestOutcome> {
    const { state } = this;
    const way = updateId === undefined ? "SIGNAL" : "UPDATE";
    const decoded = requestRules[request].payload.decode(payload ?? {});
    if (isLeft(decoded)) {
      const reason = badPayload(request);
      state.activity.requested({ request, via: way }, state.phase, { reason });
      return this.keep({ request, accepted: false, reason, ...requestIdOf(payload) });
    }
    state.acknowledgements.noticeEnds();
    const { requestId = updateId, via = way } = decoded.right;
    const known = requestId === undefined ? undefined : this.outcomes.get(requestId);
    if (known?.request === request) {
      log.info("A request that has been received before was dropped", { request, signalId: requestId });
      return known;
    }
    const settle = (judged: Either<ErrorBody, RequestPayloads[N]>) =>
      this.settle(request, { payload: decoded.right, judged, requestId, via }, accept);
    const judge = () => map(() => decoded.right)(this.judge(request, decoded.right, this.context()));
    const judged = judge();
    const question = isRight(judged) ? this.handling.questions[request]?.(decoded.right) : undefined;
    return question ? question.then((answer) => settle(answer ?? judge())) : settle(judged);
  }

  /** Does what was accepted, and keeps what became of the request. */
  private settle<N extends OperatorRequest>(
    request: N,
    decided: {
      readonly payload: RequestPayloads[N];
      readonly judged: Either<ErrorBody, RequestPayloads[N]>;
      readonly requestId: string | undefined;
      readonly via: ActivityVia;
    },
    accept: RequestEffects[N],
  ): RequestOutcome {
    const { state } = this;
    const { judged, requestId, via } = decided;
    const accepted = isRight(judged);
    const payload = accepted ? judged.right : decided.payload;
    const { requestedBy, referenceToken } = payload;
    const reason = isLeft(judged) ? judged.left : undefined;
    const run = accepted && request === "prechecks" ? { run: precheckRuns(state.task) + 1 } : {};
    // Before what it brings about is told.
    state.activity.requested({ request, ...payload, via }, state.phase, { reason, ...run });
    return onBehalfOf(referenceToken, () => {
      if (accepted) {
        this.accepted++;
        state.notifier.requested(request, requestedBy);
        accept(payload, via);
      }
      const outcome = this.keep({
        request,
        accepted,
        ...(reason && { reason }),
        ...(requestId !== undefined && { requestId }),
        ...(requestedBy !== undefined && { requestedBy }),
        ...run,
      });
      // A pause and its end change when things are done, not why.
      return { result: outcome, goesOn: accepted && request !== "pause" && request !== "resume" };
    });
  }

  private keep(decided: Omit<RequestOutcome, "at">): RequestOutcome {
    const { request, accepted, requestId, requestedBy, reason } = decided;
    const outcome = { ...decided, at: now() };
    log.info(accepted ? "Request accepted" : "Request refused", {
      request,
      signalId: requestId,
      requestedBy,
      ...(reason && { errorCode: reason.errorCode, reason: reason.message }),
    });
    if (requestId === undefined) return outcome;
    this.outcomes.set(requestId, outcome);
    const oldest = this.outcomes.keys().next().value;
    if (this.outcomes.size > keptOutcomes && oldest !== undefined) this.outcomes.delete(oldest);
    return outcome;
  }
}

/** Why an Update was refused, as whoever sent it reads it; the whole error is in the details. */
function refusal(reason: ErrorBody): ApplicationFailure {
  const { message, remediationMessage, errorCode } = reason;
  const text = [message, remediationMessage].filter((part) => part !== undefined).join(" ");
  return ApplicationFailure.nonRetryable(text, errorCode, reason);
}

/** The request id of a payload that is otherwise wrong, so that its sender can be told. */
function requestIdOf(payload: unknown): { requestId?: string } {
  const requestId =
    typeof payload === "object" && payload !== null && "requestId" in payload ? payload.requestId : undefined;
  return typeof requestId === "string" && requestId.length <= 1024 ? { requestId } : {};
}
