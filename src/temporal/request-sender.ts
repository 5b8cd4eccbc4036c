import { randomUUID } from "node:crypto";
import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { isRight } from "fp-ts/Either";
import { recordSignal, requestQuery, requestSignals, upgradeQuery } from "../../workflows/messages";
import { type Clock, monotonicClock } from "../clock";
import { changesNothing, publishedRefusal } from "../domain/requests/published-upgrade";
import { type RecordPayload, RequestOutcome } from "../domain/requests/upgrade-request";
import { intervalAfter, type RetryIntervals } from "../domain/retry-intervals";
import { blockedError } from "../domain/task/lost-upgrade";
import { toTimestamp } from "../domain/timestamp";
import type {
  CancelAnswer,
  EndedAnswer,
  RefusedRequest,
  RequestAnswer,
  RequestOrigin,
  UnansweredAnswer,
  UpgradeRequest,
} from "../upgrades/ports";
import { BlockFinder } from "./blocked-workflows";
import { type UpgradeDescription, type UpgradeDescriptions, describeWorkflow } from "./describe-workflow";
import { RefusalRecorder } from "./refusal-recorder";
import { grpcCode } from "./temporal-error";

/** Between two looks for an outcome. */
const looks: RetryIntervals = { initialInterval: 20, backoffCoefficient: 2, maximumInterval: 1000 };

/** How long a call may take that only the activity log needs (milliseconds). */
const recordTimeout = 1000;

/**
 * Sends requests to running upgrades and waits for what they make of them. Upgrades that have closed are not asked: a
 * Query would replay their whole history. Undefined where no upgrade has the id.
 */
export class RequestSender {
  private readonly blocks: BlockFinder;
  private readonly refusals = new RefusalRecorder((id, payload) => this.record(id, payload));

  constructor(
    private readonly client: Client,
    private readonly upgrades: UpgradeDescriptions,
    /** Milliseconds: one call, one Query, and all of the wait for an outcome. */
    private readonly timeouts: { readonly call: number; readonly query: number; readonly outcome: number },
    private readonly currentRequestId: () => string | undefined,
    private readonly clock: Pick<Clock, "sleep"> = monotonicClock,
  ) {
    this.blocks = new BlockFinder(client, timeouts.call);
  }

  /** What the published state refuses is not sent, nor what changes nothing: a history takes only so many Signals. */
  async send(id: string, request: UpgradeRequest, origin: RequestOrigin): Promise<RequestAnswer | undefined> {
    const { name, ...payload } = request;
    const before = await this.upgrades.find(id);
    if (!before?.running) return before && ended(before, false);
    const requestedAt = toTimestamp(Date.now());
    const judged = { request: name, at: requestedAt, ...origin };
    const reason = publishedRefusal({ ...request, requestedBy: origin.requestedBy }, before, Date.now());
    if (reason) {
      const { requestedBy } = origin;
      const because = request.name === "acknowledge" ? { comment: request.reason } : {};
      const refused = { ...payload, ...because, request: name, requestedBy, reason };
      await this.refusals.record(id, refused, before.history);
      return { _tag: "Judged", outcome: { ...judged, accepted: false, reason } };
    }
    if (changesNothing(request, before)) return { _tag: "Judged", outcome: { ...judged, accepted: true } };
    const handle = this.client.workflow.getHandle(id);
    const referenceToken = this.currentRequestId();
    const sent = await this.unlessEnded(() =>
      handle.signal(requestSignals[name], {
        ...payload,
        ...origin,
        requestedAt,
        via: "HTTP",
        ...(referenceToken !== undefined && { referenceToken }),
      }),
    );
    if (!sent) return this.endedMeanwhile(id);
    return this.answer(id, async () => {
      const outcome = RequestOutcome.decode(await handle.query(requestQuery, origin.requestId));
      return isRight(outcome) ? { _tag: "Judged" as const, outcome: outcome.right } : undefined;
    });
  }

  async cancel(id: string, requestedBy: string): Promise<CancelAnswer | undefined> {
    const before = await this.upgrades.find(id);
    if (!before?.running) return before && ended(before, false);
    if (!before.cancelRequested && before.task.isCancellable === false) return { _tag: "NotCancellable" };
    const handle = this.client.workflow.getHandle(id);
    if (!before.cancelRequested) {
      await this.tried(() => this.record(id, { request: "cancel", requestedBy, via: "HTTP" }));
      if (!(await this.unlessEnded(() => this.requestCancel(id, requestedBy)))) return this.endedMeanwhile(id);
    }
    return this.answer(id, async () => {
      // Whatever a Workflow answers from here on, it answers knowing of its cancellation.
      await handle.query(upgradeQuery);
      return { _tag: "Applied" as const };
    });
  }

  /** Keeps a refusal that was decided elsewhere. */
  async recordRefusal(id: string, refused: RefusedRequest): Promise<void> {
    const found = await this.tried(() => this.upgrades.find(id, Date.now() + recordTimeout));
    if (found?.running) await this.refusals.record(id, refused, found.history);
  }

  /** For the activity log alone, so it does not keep the caller waiting for long. */
  private record(id: string, payload: RecordPayload): Promise<unknown> {
    const deadline = Date.now() + Math.min(this.timeouts.call, recordTimeout);
    return this.client.withDeadline(deadline, () => this.client.workflow.getHandle(id).signal(recordSignal, payload));
  }

  /** The handle's own takes no reason, and the reason is what the Web UI shows of who asked. */
  private requestCancel(workflowId: string, requestedBy: string): Promise<unknown> {
    const { namespace, identity } = this.client.options;
    return this.client.workflowService.requestCancelWorkflowExecution({
      namespace,
      identity,
      workflowExecution: { workflowId },
      requestId: randomUUID(),
      reason: `requested by ${requestedBy}`,
    });
  }

  /** False where the upgrade has closed, so that nothing was recorded. */
  private async unlessEnded(call: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.client.withDeadline(Date.now() + this.timeouts.call, call);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError || grpcCode(error) === 5) return false;
      throw error;
    }
  }

  private async endedMeanwhile(id: string): Promise<EndedAnswer | undefined> {
    const found = await this.upgrades.find(id);
    return found && ended(found, false);
  }

  /** Asks until there is an answer, the upgrade has closed, or the time is up. */
  private async answer<A>(
    id: string,
    ask: () => Promise<A | undefined>,
  ): Promise<A | EndedAnswer | UnansweredAnswer | undefined> {
    const deadline = Date.now() + this.timeouts.outcome;
    for (let look = 1; ; look++) {
      const found = await this.tried(() => this.upgrades.find(id));
      if (found && !found.running) return ended(found, true);
      const until = Math.min(deadline, Date.now() + this.timeouts.query);
      const answer = await this.tried(() => this.client.withDeadline(until, ask));
      if (answer !== undefined) return answer;
      const pause = intervalAfter(look, looks);
      if (Date.now() + pause >= deadline) return this.unanswered(id);
      await this.clock.sleep(pause);
    }
  }

  private async unanswered(workflowId: string): Promise<UnansweredAnswer> {
    const deadline = Date.now() + this.timeouts.call;
    const description = await this.tried(() => describeWorkflow(this.client, { workflowId }, deadline));
    const blocked = description && (await this.blocks.find(workflowId, description));
    return { _tag: "Unanswered", ...(blocked && { blocked: blockedError(blocked) }) };
  }

  /** Undefined where it fails: the request is recorded, so all that is open is when it is applied. */
  private async tried<A>(call: () => Promise<A>): Promise<A | undefined> {
    try {
      return await call();
    } catch {
      return undefined;
    }
  }
}

function ended({ upgrade, task }: UpgradeDescription, sent: boolean): EndedAnswer {
  return { _tag: "Ended", upgrade, task, sent };
}
