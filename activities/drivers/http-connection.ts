import { type Dispatcher, Pool } from "undici";
import { type AnswerBound, answerBounds, AnswerTooLargeError, readBoundedText } from "../../src/bounded-body";
import { type Clock, monotonicClock } from "../../src/clock";
import { type Lease, requireLease } from "./lease";

/** One request to a component manager. */
export interface HttpRequest {
  /**
   * Whether it changes something, and so needs a lease. Reads and checks do not, whatever their method, nor do sessions: they
   * are no part of an upgrade, and all callers of the process share them, readers that have no Activity too.
   */
  readonly changes: boolean;
  /** Completes the sentence "could not …". */
  readonly what: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path below the root, without a leading slash, already encoded. */
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Its answer, whatever the status. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData["headers"];
  readonly body: string;
}

/** How long one request may take, and when it is made again. */
export interface HttpConnectionOptions {
  /** Milliseconds from the request to the last byte of its answer, quick retries included. */
  readonly callTimeout: number;
  /** How often, and after which statuses, a GET is begun anew at once; after a broken connection always. */
  readonly quickRetries: { readonly limit: number; readonly statuses: readonly number[] };
  /** By which quick retries wait; the machine's by default. */
  readonly clock?: Clock;
}

/** Milliseconds that a connection is kept for the next call, where the manager does not say how long it keeps it. */
const keptFor = 30_000;

/** Milliseconds before the first quick retry, and so much more before each other. */
const quickly = 100;

/**
 * The way out to the HTTP interface of a component manager, by kept connections; there is no other. Only what changes
 * nothing is repeated unasked; waiting out an outage is the caller's decision. A change is sent while the lease of its Activity is
 * valid and at no other time, however long a process was frozen or a connection was waited for (docs/decisions/0037).
 */
export class HttpConnection {
  readonly #pool: Pool;
  readonly #root: string;
  readonly #bound: AnswerBound;
  readonly #options: HttpConnectionOptions;

  /** `url`: root of the interface, such as `https://vc-01.example.com`. */
  constructor(url: string, options: HttpConnectionOptions) {
    const { origin, pathname } = new URL(url);
    this.#root = pathname.replace(/\/*$/, "/");
    this.#bound = { whose: origin, bytes: answerBounds.manager };
    this.#options = options;
    // One limit for the whole exchange replaces those of its parts.
    const limits = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: options.callTimeout };
    this.#pool = new Pool(origin, { connections: maximumConcurrentCalls, keepAliveTimeout: keptFor, ...limits });
  }

  /**
   * Gives any answer, whatever its status. Throws where there is none, with a `code` where the reason has one, and
   * LeaseEndedError where a change may not be sent.
   */
  async request(request: HttpRequest): Promise<HttpAnswer> {
    if (!request.changes) return this.#send(request, AbortSignal.timeout(this.#options.callTimeout));
    const lease = requireLease(request.what);
    const change = this.#change(request, lease);
    lease.follow(change);
    return change;
  }

  async #change(request: HttpRequest, lease: Lease): Promise<HttpAnswer> {
    await lease.renew();
    const { callTimeout, clock = monotonicClock } = this.#options;
    const signal = AbortSignal.timeout(callTimeout);
    for (;;) {
      const sending = { hasBegun: false };
      try {
        const answer = await this.#send(request, signal, this.#pool.compose(sendingWhileValid(lease, sending)));
        if (isOfAnother(answer)) lease.lost(callTimeout, clock);
        return answer;
      } catch (error) {
        if (error instanceof LeaseTooOldError) await lease.renew();
        else {
          if (sending.hasBegun) lease.lost(callTimeout, clock);
          throw error;
        }
      }
    }
  }

  async #send(request: HttpRequest, signal: AbortSignal, way: Dispatcher = this.#pool): Promise<HttpAnswer> {
    const { quickRetries, clock = monotonicClock } = this.#options;
    const retries = request.method === "GET" ? quickRetries.limit : 0;
    for (let retry = 0; ; retry++) {
      const isLast = retry === retries;
      try {
        const answer = await this.#exchange(request, signal, way);
        if (isLast || !quickRetries.statuses.includes(answer.status)) return answer;
      } catch (error) {
        if (error instanceof LeaseTooOldError || error instanceof AnswerTooLargeError) throw error;
        if (isLast || signal.aborted) throw named(error);
      }
      await clock.sleep(quickly * (retry + 1));
    }
  }

  async #exchange(
    { method, path, query, headers, body }: HttpRequest,
    signal: AbortSignal,
    way: Dispatcher,
  ): Promise<HttpAnswer> {
    const search = query?.toString();
    const answer = await way.request({
      method,
      path: `${this.#root}${path}${search ? `?${search}` : ""}`,
      headers,
      body: body ?? null,
      signal,
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: await readBoundedText(answer.body, this.#bound),
    };
  }

  /** Drops the connections, whatever is under way on them. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

/** Whether something that stands before a manager has answered, which may have passed the request on. */
function isOfAnother({ status, body }: HttpAnswer): boolean {
  // A manager's own 503 is JSON or SOAP.
  return status === 502 || status === 504 || (status === 503 && !/^\s*[{<](?!!doctype|html)/i.test(body));
}

/** Not a byte of the change was sent: the lease was too old when its turn came. */
class LeaseTooOldError extends Error {}

/** Looks at the lease in the moment in which a connection is about to write the request, and notes that it is written. */
function sendingWhileValid(lease: Lease, sending: { hasBegun: boolean }): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context: unknown) => {
        handler.onRequestStart?.(controller, context);
        if (!lease.isValid()) controller.abort(new LeaseTooOldError());
        else sending.hasBegun = true;
      },
      onResponseStart: (...answer) => handler.onResponseStart?.(...answer),
      onResponseData: (...data) => handler.onResponseData?.(...data),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...error) => handler.onResponseError?.(...error),
    });
}

/** What operators know by the system's codes comes with the library's own. */
const systemCodes: Readonly<Record<string, string>> = {
  TimeoutError: "ETIMEDOUT",
  UND_ERR_CONNECT_TIMEOUT: "ETIMEDOUT",
  UND_ERR_SOCKET: "ECONNRESET",
};

function named(cause: unknown): Error {
  const { name, code, message } = cause as { name: string; code?: unknown; message: string };
  const known = systemCodes[String(code)] ?? systemCodes[name] ?? code;
  return Object.assign(new Error(message, { cause }), typeof known === "string" && { code: known });
}

/**
 * How many calls a process makes to one interface of a component manager at a time; more wait for their turn, which does
 * not count as time of the call. Thousands of hosts may become due at once, and a manager that gets a connection for each of
 * them answers none in time.
 */
export const maximumConcurrentCalls = 64;
