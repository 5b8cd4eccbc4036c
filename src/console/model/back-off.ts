import { intervalAfter } from "../../domain/retry-intervals";

const longest = 10_000;

/**
 * Milliseconds to wait after so many failures in a row, counted from 1: longer each time, up to `most`, and never less
 * than the service asks for (Retry-After, in seconds).
 */
export function backOff(failures: number, retryAfterSeconds = 0, most = longest): number {
  const maximumInterval = Math.min(most, longest);
  const own = intervalAfter(failures, { initialInterval: 500, backoffCoefficient: 2, maximumInterval });
  return Math.max(own, 1000 * retryAfterSeconds);
}
