import type { Clock } from "../src/clock";
import type { DriverError } from "./drivers/driver-error";
import { GiveUpError } from "./retry-policy";

/**
 * How long a change has been in doubt, by the reason. Each reason is waited out for a bound of its own, from when it first arose;
 * one that has not arisen for half of that time has passed, and counts anew. Bounds in milliseconds.
 */
export class UncertainChanges<Reason extends string> {
  readonly #clock: Pick<Clock, "now">;
  readonly #known = new Map<Reason, { readonly since: number; readonly last: number }>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Notes that the reason has arisen. Whether it has lasted for as long as it is waited out. */
  hasLasted(reason: Reason, bound: number): boolean {
    const now = this.#clock.now();
    const known = this.#known.get(reason);
    const since = known && now - known.last <= bound / 2 ? known.since : now;
    this.#known.set(reason, { since, last: now });
    return now - since >= bound;
  }

  /** Whether the reason has arisen before, and is still waited out. */
  mayPass(reason: Reason, bound: number): boolean {
    return this.#known.has(reason) && !this.hasLasted(reason, bound);
  }

  /** Throws GiveUpError, with what a request failed with, where the reason has lasted. */
  giveUpAfter(reason: Reason, bound: number, error: DriverError): void {
    if (this.hasLasted(reason, bound)) throw new GiveUpError(error, bound);
  }
}
