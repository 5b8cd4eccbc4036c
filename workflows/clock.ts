import { toTimestamp } from "../src/domain/timestamp";

/**
 * The Workflow's time as a Timestamp, for what is shown and logged. Nothing may be decided by it: see {@link currentTime}
 * in deciding-clock.ts.
 */
export function now(): string {
  return toTimestamp(Date.now());
}

/** The Timestamp so many milliseconds from now, to be shown beside a timer. */
export function timestampIn(milliseconds: number): string {
  return toTimestamp(Date.now() + milliseconds);
}

/** Measures for the log: gives a function that tells how many whole seconds have passed since. */
export function stopwatch(since = Date.now()): () => number {
  return () => Math.round((Date.now() - since) / 1000);
}
