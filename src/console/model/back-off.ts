const first = 500;
const longest = 10_000;

/** Milliseconds to wait after so many failures in a row, counted from 1: longer each time, up to ten seconds. */
export function backOff(failures: number): number {
  return Math.min(longest, first * 2 ** Math.min(failures - 1, 10));
}
