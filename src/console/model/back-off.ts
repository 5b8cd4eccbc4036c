const first = 500;
const longest = 10_000;

/**
 * Milliseconds to wait after so many failures in a row, counted from 1: longer each time, up to `most`, and never less
 * than the service asks for (Retry-After, in seconds).
 */
export function backOff(failures: number, retryAfterSeconds = 0, most = longest): number {
  return Math.max(Math.min(most, longest, first * 2 ** Math.min(failures - 1, 10)), 1000 * retryAfterSeconds);
}
