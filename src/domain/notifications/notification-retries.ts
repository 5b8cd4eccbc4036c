import { intervalAfter, type RetryIntervals } from "../retry-intervals";

/**
 * When a notification that was not taken is sent again: after 5 seconds, then after twice as long each time, up to half
 * an hour. A receiver that is back soon is told soon, and one that is away for a day costs few attempts.
 */
export const notificationRetries: RetryIntervals = {
  initialInterval: 5_000,
  backoffCoefficient: 2,
  maximumInterval: 30 * 60_000,
};

/**
 * The wait before the next attempt where a receiver has asked for a longer one than it would get anyway, in
 * milliseconds; undefined where its wish changes nothing. `asked` are milliseconds, `attempt` counts from 1.
 */
export function waitAskedFor(asked: number, attempt: number): number | undefined {
  const wait = Math.min(notificationRetries.maximumInterval, asked);
  return wait > intervalAfter(attempt, notificationRetries) ? wait : undefined;
}
