import { Pool, interceptors, type Dispatcher } from "undici";
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

export interface HttpConnectionOptions {
  /** Milliseconds from the request to the last byte of its answer, quick retries included. */
  readonly callTimeout: number;
  /** How often, and after which statuses, a GET is repeated at once; after a broken connection always. */
  readonly quickRetries: { readonly limit: number; readonly statuses: readonly number[] };
}

/** Milliseconds that a connection is kept for the next call, where the manager does not say how long it keeps it. */
const keptFor = 30_000;

/**
 * Kept connections to the HTTP interface of a component manager. Only what changes nothing is repeated unasked; waiting out an
 * outage is the caller's decision.
 */
export class HttpConnection {
  readonly #pool: Pool;
  readonly #dispatcher: Dispatcher;
  readonly #root: string;
  readonly #callTimeout: number;

  /** `url`: root of the interface, such as `https://vc-01.example.com`. */
  constructor(url: string, { callTimeout, quickRetries }: HttpConnectionOptions) {
    const { origin, pathname } = new URL(url);
    this.#root = pathname.replace(/\/*$/, "/");
    this.#callTimeout = callTimeout;
    // One limit for the whole exchange replaces those of its parts.
    const limits = { headersTimeout: 0, bodyTimeout: 0, connectTimeout: callTimeout };
    this.#pool = new Pool(origin, { connections: callsAtOnce, keepAliveTimeout: keptFor, ...limits });
    this.#dispatcher = this.#pool.compose(
      interceptors.retry({
        maxRetries: quickRetries.limit,
        methods: ["GET"],
        statusCodes: [...quickRetries.statuses],
        minTimeout: 100,
        retryAfter: false,
        throwOnError: false,
      }),
    );
  }

  /** Gives any answer, whatever its status. Throws where there is none, with a `code` where the reason has one. */
  async request({ method, path, query, headers, body }: HttpRequest): Promise<HttpAnswer> {
    const search = query?.toString();
    try {
      const answer = await this.#dispatcher.request({
        method,
        path: `${this.#root}${path}${search ? `?${search}` : ""}`,
        headers,
        body: body ?? null,
        signal: AbortSignal.timeout(this.#callTimeout),
      });
      return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
    } catch (error) {
      throw named(error);
    }
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
