import { setTimeout as pause } from "node:timers/promises";
import { Pool, type Dispatcher } from "undici";
import { callsAtOnce } from "./calls-at-once";

/** One request to a component manager. */
export interface HttpRequest {
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
}

/** Milliseconds that a connection is kept for the next call, where the manager does not say how long it keeps it. */
const keptFor = 30_000;

/** Milliseconds before the first quick retry, and so much more before each other. */
const quickly = 100;

/**
 * Kept connections to the HTTP interface of a component manager. Only what changes nothing is repeated unasked; waiting out an
 * outage is the caller's decision.
 */
export class HttpConnection {
  readonly #pool: Pool;
  readonly #root: string;
  readonly #options: HttpConnectionOptions;

  /** `url`: root of the interface, such as `https://vc-01.example.com`. */
  constructor(url: string, options: HttpConnectionOptions) {
    const { origin, pathname } = new URL(url);
    this.#root = pathname.replace(/\/*$/, "/");
    this.#options = options;
    // One limit for the whole exchange replaces those of its parts.
    const limits = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: options.callTimeout };
    this.#pool = new Pool(origin, { connections: callsAtOnce, keepAliveTimeout: keptFor, ...limits });
  }

  /** Gives any answer, whatever its status. Throws where there is none, with a `code` where the reason has one. */
  async request(request: HttpRequest): Promise<HttpAnswer> {
    const { callTimeout, quickRetries } = this.#options;
    const signal = AbortSignal.timeout(callTimeout);
    const retries = request.method === "GET" ? quickRetries.limit : 0;
    for (let retry = 0; ; retry++) {
      const isLast = retry === retries;
      try {
        const answer = await this.#exchange(request, signal);
        if (isLast || !quickRetries.statuses.includes(answer.status)) return answer;
      } catch (error) {
        if (isLast || signal.aborted) throw named(error);
      }
      await pause(quickly * (retry + 1));
    }
  }

  async #exchange({ method, path, query, headers, body }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const search = query?.toString();
    const answer = await this.#pool.request({
      method,
      path: `${this.#root}${path}${search ? `?${search}` : ""}`,
      headers,
      body: body ?? null,
      signal,
    });
    return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
  }

  /** Drops the connections, whatever is under way on them. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }
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
