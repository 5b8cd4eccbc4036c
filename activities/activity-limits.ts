import { defaultTimeLimits, type TimeLimits } from "../src/domain/time-limits";
import { type Clock, monotonicClock } from "./clock";

/** How long things may take, and the clock that they are measured by. */
export interface ActivityLimits extends TimeLimits {
  readonly clock: Clock;
}

/** The limits of production. */
export const defaultActivityLimits: ActivityLimits = { ...defaultTimeLimits, clock: monotonicClock };
