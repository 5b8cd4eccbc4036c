import { isInThePast, lacksTime } from "../upgrade-schedule";
import { perResource } from "./admission-rule";
import { badField } from "./server-inputs";

/** A scheduled time lies ahead, and whoever does not want to begin now says when. */
export const scheduleAhead = perResource((resource, path, { now }) => {
  if (lacksTime(resource)) {
    return [
      badField(
        `${path}.upgradeNow`,
        "SCHEDULE_MISSING",
        `${path}.upgradeNow is false, and there is no scheduledTimestamp that says when to begin.`,
        "Add a scheduledTimestamp, or leave upgradeNow out to begin as soon as possible.",
      ),
    ];
  }
  return !isInThePast(resource, now)
    ? []
    : [
        {
          effect: "BAD_REQUEST",
          path: `${path}.scheduledTimestamp`,
          code: "SCHEDULE_IN_THE_PAST",
          message: `The scheduled time ${resource.scheduledTimestamp ?? ""} has passed.`,
          remediation: "Give a time that lies ahead, or set upgradeNow to true.",
        },
      ];
});
