import { setTimeout as sleep } from "node:timers/promises";
import { uptime } from "node:os";

/** What time is read from and waited by. Tests give one that they set themselves. */
export interface Clock {
  /** Milliseconds since some moment; never steps back, whatever becomes of the time of day. */
  now(): number;
  /** Epoch milliseconds by this machine, for times that others read too. Somebody may set it back: no duration is taken by it. */
  timeOfDay(): number;
  /** Waits so many milliseconds; rejects with the signal's reason when it is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's monotonic clock. It counts the time in which this process was frozen, not that of a suspended machine. */
export const monotonicClock: Clock = {
  now: () => performance.now(),
  timeOfDay: () => Date.now(),
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, signal && { signal }),
};

/**
 * The moment by `now()` of what somebody saw at this time of day, in another process or on another machine. The time of day
 * is read here once, at first sight; durations from then on are by `now()` and no step of the time of day changes them.
 * A time that has not come yet is taken to be now.
 */
export function momentOf(clock: Pick<Clock, "now" | "timeOfDay">, seenAt: number): number {
  return clock.now() - Math.max(0, clock.timeOfDay() - seenAt);
}

const bootedBefore = uptime() * 1000 - performance.now();

/**
 * Milliseconds by whichever of two monotonic clocks has counted more: that of processes, and the machine's uptime, which on
 * Linux counts the time that it was suspended as well.
 */
export function timeWithSuspension(): number {
  return Math.max(performance.now(), uptime() * 1000 - bootedBefore);
}
