import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../src/clock";

/**
 * A clock that passes no time but what is slept for on it, or what a test lets pass. Whoever sleeps wakes in the next turn
 * of the event loop, and as much time has then passed for all who share the clock: a simulator and the Activities that
 * wait for it agree on how long a thing takes, however fast or slow the machine is.
 */
export class ManualClock implements Clock {
  /** Milliseconds that were slept for, one after another. */
  readonly sleeps: number[] = [];
  #now = Date.now();

  readonly now = (): number => this.#now;

  readonly timeOfDay = (): number => Math.floor(this.#now);

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(milliseconds);
    const wakesAt = this.#now + milliseconds;
    // Not at once: the answers to others, the test among them, have their turn first.
    await turn(undefined, signal && { signal });
    this.#now = Math.max(this.#now, wakesAt);
  }

  pass(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
