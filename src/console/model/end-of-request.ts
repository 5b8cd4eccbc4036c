/** How long an answer may take in all, in milliseconds; the service itself gives up after 30 s. */
const answerMilliseconds = 40_000;

/**
 * What ends a request: whoever has sent it, or the time. Of an answer that `goesOn` only its reader knows whether anything
 * still comes.
 */
export function endOfRequest(
  { signal, goesOn = false }: { readonly signal?: AbortSignal; readonly goesOn?: boolean },
  limit = answerMilliseconds,
): AbortSignal {
  return AbortSignal.any([...(signal ? [signal] : []), ...(goesOn ? [] : [AbortSignal.timeout(limit)])]);
}
