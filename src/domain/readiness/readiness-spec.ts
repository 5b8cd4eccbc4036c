import * as t from "io-ts";
import { ListOf, model, ResourceId, TextThat } from "../codec";
import { PageMetadata } from "../page";
import { maximumResources } from "../spec/upgrade-spec";
import { Timestamp } from "../timestamp";

/** A number of a cron field, a range of them or `*`, each with a step if need be; several with commas between. */
function cronField(number: string): string {
  const part = `(?:\\*|${number}(?:-${number})?)(?:/[1-9]\\d?)?`;
  return `${part}(?:,${part})*`;
}

const [minute, hour, dayOfMonth, month, dayOfWeek] = [
  "[0-5]?\\d",
  "(?:1?\\d|2[0-3])",
  "(?:[12]?[1-9]|[123]0|31)",
  "(?:[1-9]|1[0-2])",
  "[0-6]",
].map((number) => cronField(number));
const cron = new RegExp(`^${[minute, hour, dayOfMonth, month, dayOfWeek].join(" ")}$`);

/** The five fields of cron in numbers, which is what Temporal Schedules take of it everywhere; Sunday is 0. */
const CronExpression = TextThat(
  "a cron expression of five numeric fields: minute, hour, day of month, month, day of week (0 is Sunday), with ranges such as 1-5",
  { maxLength: 200, pattern: cron.source },
  (text) => text.length <= 200 && cron.test(text),
);

const zoneName = /^[A-Za-z][A-Za-z0-9_+/-]*$/;

/** The name of an IANA time zone; that there is one of this name is for the use case to find out. */
const ZoneName = TextThat(
  "the name of an IANA time zone",
  { maxLength: 64, pattern: zoneName.source },
  (text) => text.length <= 64 && zoneName.test(text),
);

/** When the readiness of clusters is checked again and again: by the clock of a time zone. */
export const CheckTimes = model({ cron: CronExpression, timeZone: ZoneName }, {});
export type CheckTimes = t.TypeOf<typeof CheckTimes>;

/** A range of a cron expression that ends before it begins, such as `5-3`: no schema can say that there must be none. */
export function fallingRange({ cron }: CheckTimes): string | undefined {
  return [...cron.matchAll(/(\d+)-(\d+)/g)].find(([, from, to]) => Number(from) > Number(to))?.[0];
}

/** Which clusters are checked for which bundle: the body of `POST /v1/prechecks`. */
export const ReadinessSpec = model(
  { bundleId: ResourceId, resourceIds: ListOf(ResourceId, { min: 1, max: maximumResources }) },
  { schedule: CheckTimes },
);
export type ReadinessSpec = t.TypeOf<typeof ReadinessSpec>;

/** A schedule as Temporal keeps it: in the memo of its Temporal Schedule. */
export const StoredSchedule = model(
  { ...{ name: t.string, bundleId: t.string, resourceIds: t.array(t.string) }, schedule: CheckTimes },
  { createdBy: t.string, createdAt: Timestamp },
);
export type StoredSchedule = t.TypeOf<typeof StoredSchedule>;

/** A schedule by which the readiness of clusters is checked. */
export const ReadinessSchedule = model(
  {
    /** That of the Task of the run that began when the schedule was created. */
    id: t.string,
    name: t.string,
    bundleId: t.string,
    resourceIds: t.array(t.string),
    schedule: CheckTimes,
  },
  {
    createdBy: t.string,
    createdAt: Timestamp,
    nextRun: Timestamp,
    /** Ids of the Tasks of its latest runs, the latest first. */
    taskIds: t.array(t.string),
  },
);
export type ReadinessSchedule = t.TypeOf<typeof ReadinessSchedule>;

/** One page of the schedules. */
export const PageOfReadinessSchedule = model({}, { elements: t.array(ReadinessSchedule), pageMetadata: PageMetadata });
export type PageOfReadinessSchedule = t.TypeOf<typeof PageOfReadinessSchedule>;
