import { isInThePast } from "../upgrade-schedule";
import { perResource } from "./admission-rule";

/** A scheduled time lies ahead. */
export const scheduleAhead = perResource((resource, path, { now }) =>
  !isInThePast(resource, now)
    ? []
    : [
        {
          effect: "BAD_REQUEST",
          path: `${path}.scheduledTimestamp`,
          code: "SCHEDULE_IN_THE_PAST",
          message: `The scheduled time ${resource.scheduledTimestamp ?? ""} has passed.`,
          remediation: "Give a time that lies ahead, or set upgradeNow to true.",
        },
      ],
);
