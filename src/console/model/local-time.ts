import { distanceWords } from "../../domain/duration";

/** The text of a field for local times of a timestamp, in this browser's place; empty where it is none. */
export function localTimeOf(timestamp: string): string {
  const at = new Date(timestamp);
  if (Number.isNaN(at.getTime())) return "";
  const two = (n: number) => String(n).padStart(2, "0");
  const date = `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const rest = at.getSeconds() + at.getMilliseconds() / 1000;
  const seconds = rest === 0 ? "" : `:${rest.toFixed(3).padStart(6, "0")}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}${seconds}`;
}

/** The timestamp of such a text; empty where the text is not complete. */
export function timestampOf(localTime: string): string {
  const at = new Date(localTime);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}

/** How the console shows times: in the zone of this browser, in UTC, or by how far away they are. */
export type TimeDisplay = "LOCAL" | "UTC" | "RELATIVE";

/** What a time is shown by. `now` is by the clock of the service, `timeZone` absent means that of this browser. */
export interface TimeContext {
  readonly display: TimeDisplay;
  readonly now: number;
  readonly timeZone?: string;
}

/** A time (epoch milliseconds) as the console shows it; without its date where that is today's. */
export function formatTime(at: number, { display, now, timeZone }: TimeContext): string {
  if (display === "RELATIVE") return distanceWords(at, now);
  const zone = display === "UTC" ? "UTC" : timeZone;
  const day = (time: number) => new Date(time).toLocaleDateString("en-CA", { timeZone: zone });
  const isToday = day(at) === day(now);
  const words = new Date(at).toLocaleString("en-GB", {
    ...(!isToday && { day: "numeric", month: "short" }),
    ...(day(at).slice(0, 4) !== day(now).slice(0, 4) && { year: "numeric" }),
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
  });
  return display === "UTC" ? `${words} UTC` : words;
}

/** A time with nothing left out: that of this browser's zone with the zone's name, and UTC. */
export function exactTime(at: number, timeZone?: string): string {
  const local = new Date(at).toLocaleString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
    timeZone,
  });
  if (local.endsWith(" UTC")) return local;
  return `${local} (${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC)`;
}

/** The name of this browser's time zone, such as `Europe/Berlin`. */
export function zoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
