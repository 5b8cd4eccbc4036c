import * as E from "fp-ts/Either";
import type { CheckTimes, ReadinessSpec } from "../../domain/readiness/readiness-spec";
import type { RequestProblem } from "./form-request";
import type { UpgradeForm } from "./upgrade-form";

/** How often a check runs: at once only, or at once and then by the clock. */
export type Repeat = "ONCE" | "DAILY" | "WEEKDAYS";

export const repeatWords: Readonly<Record<Repeat, string>> = {
  ONCE: "Never",
  DAILY: "Every day",
  WEEKDAYS: "Monday to Friday",
};

const daysOfWeek = { DAILY: "*", WEEKDAYS: "1-5" } as const;

/** What somebody has filled in to have the readiness of clusters checked. */
export interface ReadinessForm extends Pick<UpgradeForm, "bundleId" | "clusters"> {
  readonly repeat: Repeat;
  /** `02:00`, by the clock of `timeZone`. */
  readonly time: string;
  readonly timeZone: string;
}

/** The request of a form, or what is missing in it. */
export function readinessRequestOf(form: ReadinessForm): E.Either<readonly RequestProblem[], ReadinessSpec> {
  const { bundleId, clusters, repeat, time, timeZone } = form;
  const [hour = "", minute] = time.split(":");
  const missing = [
    ...(bundleId === "" ? [{ path: "bundleId", message: "Choose a bundle." }] : []),
    ...(clusters.length === 0 ? [{ path: "clusters", message: "Choose at least one cluster." }] : []),
    ...(repeat !== "ONCE" && minute === undefined ? [{ path: "time", message: "Give a time of day." }] : []),
  ];
  if (missing.length > 0) return E.left(missing);
  return E.right({
    bundleId,
    resourceIds: clusters.map(({ resourceId }) => resourceId),
    ...(repeat !== "ONCE" && {
      schedule: { cron: `${Number(minute)} ${Number(hour)} * * ${daysOfWeek[repeat]}`, timeZone },
    }),
  });
}

/** Where the form keeps what a path of the request is about. */
export function readinessPathOf(path: string): string {
  if (path === "schedule.timeZone") return "timeZone";
  if (path.startsWith("schedule")) return "time";
  return path.replace(/^resourceIds/, "clusters");
}

/** When a schedule runs: what the form offers in words, anything else as the cron expression that it is. */
export function scheduleWords({ cron, timeZone }: CheckTimes): string {
  const [, minute = "", hour = "", days] = /^(\d+) (\d+) \* \* (\*|1-5)$/.exec(cron) ?? [];
  if (days === undefined) return `By cron: ${cron}, ${timeZone}`;
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  return `${repeatWords[days === "*" ? "DAILY" : "WEEKDAYS"]} at ${time}, ${timeZone}`;
}

/** The time zones that can be chosen, with that of the browser, whose name may be an older one. */
export function timeZones(own: string): readonly string[] {
  return [...new Set(["UTC", own, ...Intl.supportedValuesOf("timeZone")])].sort((a, b) => a.localeCompare(b));
}
