/** How the waits between tries grow, in milliseconds. The fields are those of a Temporal RetryPolicy. */
export interface RetryIntervals {
  readonly initialInterval: number;
  readonly backoffCoefficient: number;
  readonly maximumInterval: number;
}

/** Milliseconds to wait after so many failures in a row, counted from 1. */
export function intervalAfter(
  failures: number,
  { initialInterval, backoffCoefficient, maximumInterval }: RetryIntervals,
): number {
  return Math.min(maximumInterval, initialInterval * backoffCoefficient ** Math.min(failures - 1, 64));
}
