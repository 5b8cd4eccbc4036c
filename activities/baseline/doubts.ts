import type { DriverError } from "../drivers/driver-error";
import type { Clock } from "../clock";
import { GiveUpError } from "../retry-policy";

/** How long a change has been in doubt, by the reason. Each reason is waited out for its own time, from when it first arose. */
export class Doubts<Reason extends string> {
  readonly #clock: Pick<Clock, "now">;
  readonly #since = new Map<Reason, number>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Whether this reason has lasted for `bound` milliseconds. */
  hasLasted(reason: Reason, bound: number): boolean {
    const now = this.#clock.now();
    const since = this.#since.get(reason) ?? now;
    this.#since.set(reason, since);
    return now - since >= bound;
  }

  /** Whether this reason has arisen, and not lasted for `bound` milliseconds. */
  mayPass(reason: Reason, bound: number): boolean {
    return this.#since.has(reason) && !this.hasLasted(reason, bound);
  }

  /** The reason has gone: when it arises again, it is waited out anew. */
  forget(reason: Reason): void {
    this.#since.delete(reason);
  }

  /** Throws what a request failed with, where this reason has lasted for `bound` milliseconds. */
  giveUpAfter(reason: Reason, bound: number, error: DriverError): void {
    if (this.hasLasted(reason, bound)) throw new GiveUpError(error, bound);
  }
}
