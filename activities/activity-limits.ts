import type { Clock } from "../src/clock";
import type { TimeLimits } from "../src/domain/time-limits";

/** How long things may take, and the clock that they are measured by. */
export interface ActivityLimits extends TimeLimits {
  readonly clock: Clock;
}
