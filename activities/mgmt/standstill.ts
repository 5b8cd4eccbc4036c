import type { Progress } from "../drivers/vapi/vapi-models";
import type * as t from "io-ts";
import type { Clock } from "../../src/clock";

/** What is looked at to tell whether something moves. */
interface Moving {
  readonly status?: string | undefined;
  readonly progress?: t.TypeOf<typeof Progress> | undefined;
}

/** Tells for how long something has made no progress. Time in which it could not be looked at does not count. */
export class Standstill {
  readonly #clock: Clock;
  #seen: string | undefined;
  #since: number;
  #looked: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = this.#looked = clock.now();
  }

  /** Milliseconds since the last change, in states in which work is done. */
  look(state: string, { status, progress }: Moving): number {
    const now = this.#clock.now();
    const fingerprint = JSON.stringify([state, status, progress?.completed, progress?.message.default_message]);
    if (fingerprint !== this.#seen) this.#since = now;
    this.#seen = fingerprint;
    this.#looked = now;
    return now - this.#since;
  }

  /** It could not be looked at since the last time. */
  blind(): void {
    const now = this.#clock.now();
    this.#since += now - this.#looked;
    this.#looked = now;
  }
}

/** Percent done, where a total is told. */
export function percentOf(progress: Moving["progress"]): number | undefined {
  if (!progress || progress.total <= 0) return undefined;
  return Math.max(0, Math.min(100, Math.round((progress.completed / progress.total) * 100)));
}
