import { toTimestamp } from "../src/domain/timestamp";

/**
 * The Workflow's time in epoch milliseconds, for decisions: whether something is due, too old, or still ahead. It is that of
 * the Workflow Task, the same in a replay: no Workflow has local Activities (docs/decisions/0036).
 */
export function currentTime(): number {
  return Date.now();
}

/** The same as a Timestamp, for what is shown and logged. */
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
