/**
 * The outcome of `work`, unless one of the signals is aborted first, or so many milliseconds pass. `work` gets a signal of
 * its own. It may not hear of it: on Node 20 `fetch` loses its signal when the garbage collector has come by
 * (https://github.com/nodejs/undici/issues/3644). So nobody waits for it then.
 */
export async function untilStopped<A>(
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
