import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { decodeJson } from "../domain/decode";
import { ErrorBody } from "../domain/errors";
import { legible } from "../domain/legible";
import type { Contexts, StoredContext } from "./config-file";
import type { Environment } from "./environment";
import { answeredError, CliError, exitCode, isShed, isUnauthorized, wrongUsage } from "./errors";

/** The address of `npm start`. */
const defaultServer = "http://127.0.0.1:8080";

/** How long an answer may take. A commit waits for the Workflow, but not as long as this. */
const answerMilliseconds = 60_000;

/** How long a request that is shed is sent again. */
const retryMilliseconds = 60_000;

interface Refusal {
  readonly status: number;
  readonly error: ErrorBody;
}

/** The methods that the API knows. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What a request may have beside method and path. */
export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without the user's token. */
  readonly anonymous?: boolean;
  /** Ends the request; without it a time limit does. */
  readonly signal?: AbortSignal;
  /** Neither sends again what is shed nor renews the login. */
  readonly once?: true;
}

/** The service's HTTP interface: sends the user's token, renews it, and turns every failure into a {@link CliError}. */
export class ApiClient {
  private login: StoredContext | undefined;
  readonly server: string;

  /** `server` of the command line goes before UPGRADECTL_SERVER, and that before the context's. */
  constructor(
    private readonly environment: Environment,
    private readonly contexts: Contexts,
    server?: string,
  ) {
    const { env } = environment;
    const token = env["UPGRADECTL_TOKEN"];
    const login = contexts.chosen;
    this.server = baseUrl(server ?? (env["UPGRADECTL_SERVER"] || login?.server) ?? defaultServer);
    // A token goes to the server that gave it and to no other.
    if (token) this.login = { server: this.server, accessToken: token };
    else if (login?.server === this.server) this.login = login;
  }

  /** Sends a request and decodes its answer. */
  async request<A>(method: Method, path: string, codec: t.Decoder<unknown, A>, options?: RequestOptions): Promise<A> {
    const response = await this.open(method, path, options);
    return this.decoded(response, codec);
  }

  /** Sends a request and gives its answer unread; what is no success is thrown. */
  async open(method: Method, path: string, options: RequestOptions = {}): Promise<Response> {
    const first = await this.ask(method, path, options);
    if (E.isRight(first)) return first.right;
    const { status, error } = first.left;
    if (options.once || !isUnauthorized(status, error) || !(await this.renew())) throw answeredError(status, error);
    const second = await this.ask(method, path, options);
    if (E.isRight(second)) return second.right;
    throw answeredError(second.left.status, second.left.error);
  }

  /** Sends a request, and again as long as it is refused before anything is done, because there are too many. */
  private async ask(method: Method, path: string, options: RequestOptions): Promise<E.Either<Refusal, Response>> {
    const { environment } = this;
    const giveUpAt = environment.now() + retryMilliseconds;
    for (;;) {
      const response = await this.send(method, path, options);
      if (response.ok) return E.right(response);
      const error = await this.decoded(response, ErrorBody);
      const seconds = isShed(error) ? Number(response.headers.get("retry-after") ?? NaN) : NaN;
      if (options.once || !(seconds >= 0) || environment.now() + seconds * 1000 > giveUpAt)
        return E.left({ status: response.status, error });
      environment.stderr.write(
        `The service has too many requests (${legible(error.errorCode ?? "")}). Retrying in ${seconds} s.\n`,
      );
      await environment.wait(seconds * 1000);
    }
  }

  private async send(method: Method, path: string, options: RequestOptions): Promise<Response> {
    const { body, headers, signal, anonymous = false } = options;
    const { interrupted } = this.environment;
    const ask = (own: AbortSignal) =>
      fetch(this.server + path, {
        method,
        redirect: "error",
        signal: own,
        headers: {
          accept: "application/json",
          ...(this.login?.accessToken !== undefined &&
            !anonymous && { authorization: `Bearer ${this.login.accessToken}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    try {
      if (signal) return await untilStopped(ask, [signal, interrupted]);
      return await untilStopped(ask, [interrupted], answerMilliseconds);
    } catch (error) {
      throw this.unreachable(error);
    }
  }

  /** A new access token by the refresh token, kept for the next command. False where there is none to renew. */
  private async renew(): Promise<boolean> {
    const login = this.login;
    if (login?.refreshToken === undefined) return false;
    const body = login.refreshToken;
    const renewed = await this.ask("PATCH", "/v1/tokens/access-token/refresh", { body, anonymous: true });
    if (E.isLeft(renewed)) throw answeredError(renewed.left.status, renewed.left.error);
    const accessToken = await this.decoded(renewed.right, t.string);
    this.login = { ...login, accessToken };
    this.contexts.keep(this.contexts.name, this.login);
    return true;
  }

  private async decoded<A>(response: Response, codec: t.Decoder<unknown, A>): Promise<A> {
    let text: string;
    try {
      text = await untilStopped(() => response.text(), [this.environment.interrupted], answerMilliseconds);
    } catch (error) {
      throw this.unreachable(error);
    }
    const value = decodeJson(codec, text);
    if (E.isRight(value)) return value.right;
    throw this.strange(response.status);
  }

  /** What {@link open} throws where nothing answers; also for a stream that breaks off. */
  unreachable(cause: unknown): CliError {
    if (this.environment.interrupted.aborted) return interruption(cause);
    return new CliError(
      exitCode.notReachable,
      `The service at ${this.server} is not reachable: ${reasonOf(cause)}.`,
      "Check that it is running and that the address is correct (--server, UPGRADECTL_SERVER).",
      { cause },
    );
  }

  private strange(status: number): CliError {
    return new CliError(
      exitCode.notReachable,
      `${this.server} answered ${status}, but is not an upgrade management service.`,
      "Check the address (--server, UPGRADECTL_SERVER) and the proxies in between.",
    );
  }
}

/** What ends a command on Ctrl-C. */
export function interruption(cause?: unknown): CliError {
  return new CliError(exitCode.interrupted, "Interrupted.", "Run the command again.", { cause });
}

/** An address as requests are sent to it. Throws where it is no HTTP URL. */
export function baseUrl(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (url && (url.protocol === "http:" || url.protocol === "https:") && !url.username && !url.password)
    return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
  throw wrongUsage(`The server's address is not an HTTP URL.`, `Give one such as ${defaultServer}.`);
}

/** `fetch` says little itself; what happened is in its cause, or in the first of several. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown reason";
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return error.message.replace(/\.$/, "");
}

/**
 * The outcome of `work`, unless one of the signals is aborted first, or so many milliseconds pass. `work` gets a signal of
 * its own. It may not hear of it: on Node 20 `fetch` loses its signal when the garbage collector has come by
 * (https://github.com/nodejs/undici/issues/3644). So nobody waits for it then.
 */
async function untilStopped<A>(
  work: (signal: AbortSignal) => Promise<A>,
  signals: readonly AbortSignal[],
  milliseconds = Infinity,
): Promise<A> {
  const own = new AbortController();
  const stop = () => own.abort(signals.find(({ aborted }) => aborted)?.reason);
  const late = () => own.abort(new Error("it did not answer in time"));
  const timer = Number.isFinite(milliseconds) ? setTimeout(late, milliseconds) : undefined;
  for (const signal of signals) signal.addEventListener("abort", stop);
  try {
    return await new Promise<A>((resolve, reject) => {
      own.signal.addEventListener("abort", () => reject(own.signal.reason as Error));
      if (signals.some(({ aborted }) => aborted)) stop();
      else work(own.signal).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener("abort", stop);
  }
}
