import { useEffect, useState } from "preact/hooks";
import type * as t from "io-ts";
import type { ErrorBody } from "../../domain/error-body";
import { backOff } from "../model/back-off";
import { errorBodyOf, retryAfterOf } from "./api-failure";
import { askAgain, type Held } from "./ask-api";

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
