import type * as t from "io-ts";
import { useEffect, useState } from "preact/hooks";
import { ConsoleConfig, ConsoleSession } from "../../domain/console-config";
import type { ErrorBody } from "../../domain/errors";
import { backOff } from "../model/back-off";
import { renewSession } from "./renew-session";
import {
  ApiFailure,
  type ApiRequest,
  errorBodyOf,
  failureOf,
  readJson,
  retryAfterOf,
  sendRequest,
} from "./send-request";
import { installation, session, setTokens, tokens } from "./session";

/** An answer that may be asked for again: with its entity tag the API need not send what is here already. */
interface Held<A> {
  readonly value: A;
  readonly tag: string | null;
}

/** Asks the API and reads its answer by a codec. Rejects with `ApiFailure`, also where there is no answer. */
export async function askApi<A>(codec: t.Type<A, unknown, unknown>, request: ApiRequest): Promise<A> {
  return readAnswer(codec, request, await openApi(request));
}

/** Reads a path, or finds that what was read before still holds. */
async function askAgain<A>(
  codec: t.Type<A, unknown, unknown>,
  request: ApiRequest,
  held: Held<A> | undefined,
): Promise<Held<A>> {
  const response = await openApi({ ...request, headers: held?.tag ? { "if-none-match": held.tag } : {} });
  if (held && response.status === 304) return held;
  return { value: await readAnswer(codec, request, response), tag: response.headers.get("etag") };
}

/** Asks the API for an answer that is not read here: one that goes on, or none. Renews the session where it has expired. */
export async function openApi(request: ApiRequest): Promise<Response> {
  const used = tokens.value;
  const response = await sendRequest(request);
  if (isAnswer(response)) return response;
  const failure = await failureOf(response);
  if (failure.body.errorCode !== "Unauthorized") throw failure;
  if (await renewSession(used)) {
    const second = await sendRequest(request);
    if (isAnswer(second)) return second;
    throw await failureOf(second);
  }
  if (tokens.value)
    setTokens(undefined, {
      message: "Your session has ended.",
      remediationMessage: "Sign in again to return to this page.",
    });
  throw failure;
}

/** Reads what the console has to know first. */
export async function loadInstallation(): Promise<void> {
  installation.value = await askApi(ConsoleConfig, { path: "/console-config.json" });
}

/** Reads who has signed in. */
export async function loadSession(): Promise<void> {
  session.value = await askApi(ConsoleSession, { path: "/console-session.json" });
}

async function readAnswer<A>(codec: t.Type<A, unknown, unknown>, { path }: ApiRequest, response: Response): Promise<A> {
  const decoded = codec.decode(await readJson(response));
  if (decoded._tag === "Right") return decoded.right;
  throw new ApiFailure({
    message: `The answer to ${path} is not in the expected form.`,
    remediationMessage: "Load the page again: the service may have been updated.",
  });
}

function isAnswer(response: Response): boolean {
  return response.ok || response.status === 304;
}

/** What was read last. `error` is of the latest try; `value` stays what it was. */
export interface Polled<A> {
  readonly value?: A;
  readonly error?: ErrorBody;
  /** Reads at once. */
  readonly refresh: () => void;
}

/**
 * Reads a path, and again every so many milliseconds; not while nobody looks at the page. Where the API gives entity
 * tags, what has not changed is not sent again. After failures it waits as long as it takes to be no burden.
 */
export function usePolled<A>(codec: t.Type<A, unknown, unknown>, path: string, every: number): Polled<A> {
  const [state, setState] = useState<{ path: string; value?: A; error?: ErrorBody }>({ path });
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isReading = false;
    let held: Held<A> | undefined;
    let failures = 0;
    const read = async () => {
      isReading = true;
      let pause = every;
      try {
        const before = held;
        held = await askAgain(codec, { path, signal: stop.signal }, held);
        const { value } = held;
        if (!stop.signal.aborted && (held !== before || failures > 0)) setState({ path, value });
        failures = 0;
      } catch (thrown) {
        failures += 1;
        pause = backOff(failures, retryAfterOf(thrown), every);
        if (!stop.signal.aborted)
          setState((before) => ({ ...(before.path === path ? before : { path }), error: errorBodyOf(thrown) }));
      }
      isReading = false;
      if (!stop.signal.aborted) timer = setTimeout(next, pause);
    };
    const next = () => {
      clearTimeout(timer);
      if (!isReading && document.visibilityState === "visible") void read();
    };
    document.addEventListener("visibilitychange", next, { signal: stop.signal });
    void read();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [codec, path, every, asked]);
  const { value, error } = state.path === path ? state : { value: undefined, error: undefined };
  return {
    ...(value !== undefined && { value }),
    ...(error && { error }),
    refresh: () => setAsked((n) => n + 1),
  };
}
