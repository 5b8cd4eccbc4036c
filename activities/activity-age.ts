import type { Info } from "@temporalio/activity";
import { type Clock, momentOf, monotonicClock } from "../src/clock";

/** Activities that are remembered; of more the oldest are forgotten, and seen for the first time again. */
const maximumSeen = 10_000;

/** An Activity with all its runs, as Temporal knows it. */
export type SeenActivity = Pick<Info, "activityId" | "workflowExecution" | "scheduledTimestampMs">;

/**
 * For how long Activities have been tried, with all their runs. Earlier runs may have been on other machines, so the time of
 * day tells how old an Activity is when this process first sees it. From then on its age grows by the monotonic clock:
 * a step of the time of day makes no outage longer or shorter.
 */
export class ActivityAges {
  readonly #clock: Pick<Clock, "now" | "timeOfDay">;
  /** The moments at which Activities were scheduled, by the clock's `now()`. */
  readonly #scheduled = new Map<string, number>();

  constructor(clock: Pick<Clock, "now" | "timeOfDay"> = monotonicClock) {
    this.#clock = clock;
  }

  /** Notes an Activity at its first run here; the next runs change nothing. */
  see(activity: SeenActivity): void {
    this.#scheduledAt(activity);
  }

  /** Milliseconds since it was first scheduled. */
  of(activity: SeenActivity): number {
    return this.#clock.now() - this.#scheduledAt(activity);
  }

  /** It is not run again. */
  forget(activity: SeenActivity): void {
    this.#scheduled.delete(keyOf(activity));
  }

  #scheduledAt(activity: SeenActivity): number {
    const key = keyOf(activity);
    const known = this.#scheduled.get(key);
    if (known !== undefined) return known;
    const scheduled = momentOf(this.#clock, activity.scheduledTimestampMs);
    this.#scheduled.set(key, scheduled);
    const [oldest] = this.#scheduled.keys();
    if (this.#scheduled.size > maximumSeen && oldest !== undefined) this.#scheduled.delete(oldest);
    return scheduled;
  }
}

/** With the scheduled time: an Activity that was scheduled anew is another one, whatever its id. */
function keyOf({ workflowExecution, activityId, scheduledTimestampMs }: SeenActivity): string {
  return `${workflowExecution?.runId} ${activityId} ${scheduledTimestampMs}`;
}
