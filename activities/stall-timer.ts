import type { Clock } from "../src/clock";

/** Tells for how long nothing of what is watched has changed. Time in which it could not be looked at need not count. */
export class StallTimer {
  readonly #clock: Pick<Clock, "now">;
  #seen: string | undefined;
  #since: number;
  #looked: number;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
    this.#since = this.#looked = clock.now();
  }

  /** Notes what is seen, as JSON tells it. Whether that has changed since the last look. */
  look(seen: unknown): boolean {
    const now = this.#clock.now();
    const text = JSON.stringify(seen);
    const hasChanged = text !== this.#seen;
    if (hasChanged) this.#since = now;
    this.#seen = text;
    this.#looked = now;
    return hasChanged;
  }

  /** Milliseconds since the last change. */
  get stalledFor(): number {
    return this.#clock.now() - this.#since;
  }

  /** It could not be looked at since the last time: none of that time counts. */
  blind(): void {
    const now = this.#clock.now();
    this.#since += now - this.#looked;
    this.#looked = now;
  }

  /** Reads what is then looked at; the time until the answer does not count. */
  async uncounted<A>(read: () => Promise<A>): Promise<A> {
    const asked = this.#clock.now();
    const answer = await read();
    this.#since += this.#clock.now() - asked;
    return answer;
  }
}
