import {
  CheckTimes,
  PageOfReadinessSchedule,
  ReadinessSchedule,
  ReadinessSpec,
} from "../../../domain/readiness/readiness-spec";
import { type Component, object, pageFields } from "../component";

/** Readiness checks and their schedules. */
export const readinessModels = {
  ReadinessSpec: object(ReadinessSpec, "Which clusters to check for which bundle.", {
    bundleId: "Id of the bundle that the clusters would be upgraded to.",
    resourceIds: "Ids of the clusters. The servers that an upgrade of them would include are checked too.",
    schedule: "When to repeat the check, with the clusters and the bundle as they are now. Absent: never.",
  }),
  CheckTimes: object(CheckTimes, "When a check is repeated.", {
    cron: "Minute, hour, day of month, month and day of week (0 is Sunday), in numbers, with `*`, ranges, steps and lists. `0 2 * * *` is every night at two.",
    timeZone: "The IANA time zone of `cron`, such as `Europe/Berlin`.",
  }),
  ReadinessSchedule: object(ReadinessSchedule, "A schedule of readiness checks.", {
    id: "Id of the schedule, and of the task of its first check.",
    name: "What is checked.",
    bundleId: "Id of the bundle.",
    resourceIds: "Ids of the clusters.",
    schedule: "When they are checked.",
    createdBy: "Who created it.",
    createdAt: "When it was created.",
    nextRun: "When the next check starts.",
    taskIds: "Ids of the tasks of its latest checks, the latest first.",
  }),
  PageOfReadinessSchedule: object(PageOfReadinessSchedule, "One page of the schedules.", pageFields("schedules")),
} satisfies Readonly<Record<string, Component>>;
