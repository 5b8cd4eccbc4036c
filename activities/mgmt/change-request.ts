import { endedByRestart } from "../complete-task";
import { DriverError, isAnsweredForNow, isBusy } from "../drivers/driver-error";
import { ClosureError } from "../closure-check";
import { GiveUpError } from "../retry-policy";
import { mgmtFailure } from "./mgmt-failure";
import type { MgmtStepContext } from "./mgmt-step";

/** Requests that may leave no trace before that is an error. */
const maximumRequests = 5;

/** Milliseconds by which two clocks are taken to differ. */
const clockSlack = 2_000;

/**
 * The request for one change of a management server, made so that it is never made twice: a heartbeat records the
 * intent before it, and after an answer that was lost the server is looked at for a while before it is repeated. An accepted
 * request is not repeated at all.
 */
export class ChangeRequest {
  readonly #context: MgmtStepContext;
  #requests = 0;
  readonly #uncertain = new Map<string, number>();

  constructor(context: MgmtStepContext) {
    this.#context = context;
  }

  /** Whether this attempt or an earlier run of it is known to have asked. */
  get known(): boolean {
    return this.#context.progress.current.requestedAt !== undefined;
  }

  /** Whether something that is under way may be ours. */
  get possible(): boolean {
    return this.known || this.#context.mayHaveRequested;
  }

  /** Whether something that began at this time of the server (RFC 3339, if told) must be ours. */
  owns(startTime: string | undefined): boolean {
    const { requestedAt, accepted } = this.#context.progress.current;
    if (requestedAt === undefined) return false;
    return startTime === undefined ? accepted === true : Date.parse(startTime) >= Date.parse(requestedAt);
  }

  /** Asks. `lastStart`: when the last such change began, which a trace of ours must be later than. */
  async send(send: () => Promise<void>, lastStart?: string): Promise<void> {
    const { client, progress, limits, input, retryPolicy, begin } = this.#context;
    if (++this.#requests > maximumRequests) throw requestsWithoutEffect(input.server.name);
    const { requestedAt, accepted } = progress.current;
    const before = { ...(requestedAt !== undefined && { requestedAt }), ...(accepted !== undefined && { accepted }) };
    const last = Date.parse(lastStart ?? "");
    progress.intend(Math.max(client.now() - clockSlack, Number.isNaN(last) ? 0 : last + 1));
    try {
      // Not through retryPolicy: a request whose answer is lost must not be repeated without looking.
      await begin(() => retryPolicy.once(send));
      progress.accept();
      this.#uncertain.clear();
    } catch (error) {
      if (error instanceof ClosureError) progress.retract(before);
      if (!(error instanceof DriverError)) throw error;
      const refused = isBusy(error) || error.kind !== "transient";
      if (refused) progress.retract(before);
      if (error.kind === "permanent") throw error;
      progress.note(error.message);
      if (isAnsweredForNow(error)) this.#requests--;
      if (isBusy(error)) {
        this.waitAtMost("busy", limits.operationBusy, () => new GiveUpError(error, limits.operationBusy));
      } else if (error.kind === "transient") {
        this.waitAtMost("unanswered", limits.outage, () => new GiveUpError(error, limits.outage));
        this.#uncertain.delete("settling");
      }
    }
  }

  /**
   * Nothing is under way although a request may have been made. True where that has been so for long enough that none
   * can have arrived. Throws where an accepted one has no effect.
   */
  hasLeftNoTrace(): boolean {
    const { progress, limits, input } = this.#context;
    if (!this.possible) return true;
    if (progress.current.accepted) {
      this.waitAtMost("accepted", limits.operationBusy, () => requestsWithoutEffect(input.server.name));
      return false;
    }
    const since = this.#uncertain.get("settling") ?? this.#context.retryPolicy.clock.now();
    this.#uncertain.set("settling", since);
    return this.#context.retryPolicy.clock.now() - since >= 3 * limits.poll.max;
  }

  /** Whether what was asked for ended because a service of the server restarted. That is no failure: it is asked for again. */
  wasEndedByRestart(task: { readonly status: string; readonly start_time?: string } | undefined): boolean {
    return task?.start_time !== undefined && this.owns(task.start_time) && endedByRestart(task);
  }

  /** Throws the error where this doubt has lasted for longer than `bound` milliseconds. */
  waitAtMost(change: string, bound: number, error: () => Error): void {
    const since = this.#uncertain.get(change) ?? this.#context.retryPolicy.clock.now();
    this.#uncertain.set(change, since);
    if (this.#context.retryPolicy.clock.now() - since >= bound) throw error();
  }
}

function requestsWithoutEffect(server: string) {
  return mgmtFailure("MGMT_NOT_STARTED", `Management server ${server} accepts the request and does nothing`);
}
