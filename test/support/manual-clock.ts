import type { Clock } from "../../activities/clock";

/** A clock that a test sets. Whoever sleeps on it wakes at once, and its time has then passed. */
export class ManualClock implements Clock {
  /** Milliseconds that were slept for, one after another. */
  readonly sleeps: number[] = [];
  #now = 1_000_000;

  now(): number {
    return this.#now;
  }

  sleep(milliseconds: number): Promise<void> {
    this.sleeps.push(milliseconds);
    this.#now += milliseconds;
    return Promise.resolve();
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
