import { DateTime, IANAZone } from "luxon";
import { distanceWords } from "../domain/duration";
import { legible } from "../domain/legible";
import { Timestamp } from "../domain/timestamp";
import { wrongUsage } from "./errors";

/** In which zones times are read and shown. */
export interface Zones {
  /** Of times that name none: that of `--zone`, else the context's, else {@link local}. */
  readonly given: string;
  /** Of this computer. */
  readonly local: string;
}

/** The zones of a command line. Throws where a name is none of the IANA's. */
export function zonesOf(
  { zone, contextZone }: { readonly zone?: string | undefined; readonly contextZone?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
): Zones {
  const [system, fromEnvironment] = [Intl.DateTimeFormat().resolvedOptions().timeZone, env["TZ"]];
  const local = fromEnvironment !== undefined && IANAZone.isValidZone(fromEnvironment) ? fromEnvironment : system;
  return { given: checkedZone(zone ?? contextZone) ?? local, local };
}

/** A zone's name as it was given, if it is one. */
export function checkedZone(name: string | undefined): string | undefined {
  if (name === undefined || IANAZone.isValidZone(name)) return name;
  throw wrongUsage(
    `There is no time zone ${JSON.stringify(legible(name))}.`,
    "Give --zone an IANA name, such as Europe/Berlin, America/New_York or UTC.",
  );
}

/** What people write for a time, for help texts and errors. */
export const timeExamples = '"Sat 02:00", "tomorrow 2am", "in 3h", "6 Jan 02:00" or 2036-01-06T02:00:00+01:00';

/**
 * The moment that a text means (epoch milliseconds). A day of the week, and a time of day alone, is the next one. Throws
 * where the text is no time, and where the clocks of the zone show it never or twice that day: nothing is guessed.
 */
export function parseTime(text: string, zones: Zones, now: number): number {
  return parse(text, { zones, now, option: "--at", examples: timeExamples, isPast: false });
}

/** The same of a time that has passed: a day of the week, and a time of day alone, is the last one; a length is so long ago. */
export function parsePastTime(text: string, zones: Zones, now: number): number {
  const examples = '"8h", "yesterday 18:00", "Fri", "06:00" or 2036-01-06T02:00:00+01:00';
  return parse(text, { zones, now, option: "--since", examples, isPast: true });
}

interface Reading {
  readonly zones: Zones;
  readonly now: number;
  readonly option: string;
  readonly examples: string;
  readonly isPast: boolean;
}

function parse(text: string, { zones, now, option, examples, isPast }: Reading): number {
  const exact = Timestamp.decode(text.trim());
  if (exact._tag === "Right") return Date.parse(exact.right);
  const words = text
    .trim()
    .toLowerCase()
    .split(/[\s,]+/);
  // A text may end with a zone of its own.
  const last =
    text
      .trim()
      .split(/[\s,]+/)
      .at(-1) ?? "";
  const hasZone = words.length > 1 && (last.includes("/") || /^(utc|z)$/i.test(last));
  const zone = hasZone ? (checkedZone(/^z$/i.test(last) ? "UTC" : last) ?? zones.given) : zones.given;
  const here = DateTime.fromMillis(now, { zone, locale: "en" });
  const given = hasZone ? words.slice(0, -1) : words;
  const time = distanceFrom(here, given, isPast) ?? wallClock(given, here, isPast);
  if (time === undefined)
    throw wrongUsage(`${option}: ${JSON.stringify(legible(text))} is not a time.`, `Use a form such as ${examples}.`);
  return typeof time === "number" ? time : momentOf(time, zone, option);
}

/** A day and a time of day as a clock on the wall shows them. */
interface WallClock {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** `in 3h`, `in 90 min`, `in 1h30m`, `in 2 days`; of the past `3h` and `3h ago`. */
function distanceFrom(here: DateTime, words: readonly string[], isPast: boolean): number | undefined {
  if (!isPast && words[0] !== "in") return undefined;
  const text = (isPast ? words.filter((word, i) => i === 0 || word !== "ago") : words.slice(1)).join("");
  const lengths = /^(?:(\d+)d(?:ays?)?)?(?:(\d+)h(?:ours?|rs?)?)?(?:(\d+)m(?:in(?:ute)?s?)?)?$/.exec(text);
  if (text === "" || !lengths) return undefined;
  const [days, hours, minutes] = lengths.slice(1).map((count?: string) => Number(count ?? 0));
  const length = { days, hours, minutes };
  return (isPast ? here.minus(length) : here.plus(length)).toMillis();
}

/** A day, a time of day, in this order or the other one. A day of the past alone is its beginning. */
function wallClock(words: readonly string[], here: DateTime, isPast: boolean): WallClock | undefined {
  const text = words
    .filter((word) => word !== "at")
    .join(" ")
    .replace(/(\d) (am|pm)\b/, "$1$2");
  const iso = /^(\d{4}-\d{2}-\d{2})[t ](\d{2}:\d{2}(?::\d{2})?)$/.exec(text);
  const parts = iso ? [iso[1] ?? "", iso[2] ?? ""] : text.split(" ");
  for (const [timeWord, dayWords] of [
    [parts.at(-1), parts.slice(0, -1)],
    [parts[0], parts.slice(1)],
    ...(isPast && text !== "" ? [["00:00", parts] as const] : []),
  ] as const) {
    const time = timeOfDay(timeWord ?? "");
    const day = time && dayOf(dayWords.join(" "), here, time, isPast);
    if (day) return { year: day.year, month: day.month, day: day.day, ...time };
  }
  return undefined;
}

type TimeOfDay = Pick<WallClock, "hour" | "minute" | "second">;

/** `02:00`, `2am`, `2:30pm`, `14:00:30`. */
function timeOfDay(word: string): TimeOfDay | undefined {
  const [, hours, minute, second, half] = /^(\d{1,2})(?::(\d{2}))?(?::(\d{2}))?(am|pm)?$/.exec(word) ?? [];
  if (hours === undefined || (minute === undefined && half === undefined)) return undefined;
  const said = Number(hours);
  if (half !== undefined && (said < 1 || said > 12)) return undefined;
  const hour = half === undefined ? said : (said % 12) + (half === "pm" ? 12 : 0);
  const time = { hour, minute: Number(minute ?? 0), second: Number(second ?? 0) };
  return time.hour < 24 && time.minute < 60 && time.second < 60 ? time : undefined;
}

const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** The day that is meant: of those to come the next one, of the past the last one; `undefined` where it is none. */
function dayOf(text: string, here: DateTime, time: TimeOfDay, isPast: boolean): DateTime | undefined {
  const today = here.startOf("day");
  // As the clock shows it: on a day without this time the next step tells that.
  const hasPassed =
    time.hour * 3600 + time.minute * 60 + time.second <= here.hour * 3600 + here.minute * 60 + here.second;
  const isWrongSide = hasPassed !== isPast;
  const step = isPast ? -1 : 1;
  if (text === "") return today.plus({ days: isWrongSide ? step : 0 });
  if (text === "today") return today;
  if (text === "yesterday") return today.minus({ days: 1 });
  if (text === "tomorrow") return today.plus({ days: 1 });
  const weekday = /^[a-z]{3,}$/.test(text)
    ? weekdays.findIndex((name) => isBeginning(text, name, here, "weekday"))
    : -1;
  if (weekday >= 0) {
    const away = (step * (weekday + 1 - here.weekday) + 7) % 7;
    return today.plus({ days: step * (away === 0 && isWrongSide ? 7 : away) });
  }
  const iso = /^\d{4}-\d{2}-\d{2}$/.test(text) ? DateTime.fromISO(text, { zone: "UTC" }) : undefined;
  if (iso) return iso.isValid ? iso : undefined;
  const [, day, monthAfter, , monthBefore, dayAfter, year] =
    /^(?:(\d{1,2})\.? ([a-z]{3,})|(([a-z]{3,}) (\d{1,2})))(?: (\d{4}))?$/.exec(text) ?? [];
  const name = monthAfter ?? monthBefore ?? "";
  const month = name === "" ? -1 : months.findIndex((one) => isBeginning(name, one, here, "month"));
  if (month < 0) return undefined;
  const date = (inYear: number) =>
    DateTime.fromObject({ year: inYear, month: month + 1, day: Number(day ?? dayAfter) }, { zone: "UTC" });
  const chosen = date(Number(year ?? here.year));
  const [asked, known] = [chosen.toISODate() ?? "", today.toISODate() ?? ""];
  const isOtherYear = year === undefined && (isPast ? asked > known : asked < known);
  const meant = isOtherYear ? date(here.year + step) : chosen;
  return meant.isValid ? meant : undefined;
}

/** Whether a word is the short name, or the whole one, or anything between. */
function isBeginning(word: string, short: string, here: DateTime, what: "weekday" | "month"): boolean {
  if (!word.startsWith(short)) return false;
  const place = (what === "weekday" ? weekdays : months).indexOf(short) + 1;
  const whole =
    what === "weekday" ? here.set({ weekday: place as 1 }).weekdayLong : here.set({ day: 1, month: place }).monthLong;
  return (whole ?? "").toLowerCase().startsWith(word);
}

/** The one moment at which the clocks of a zone show a time. */
function momentOf(wall: WallClock, zone: string, option: string): number {
  const shown = `${two(wall.year, 4)}-${two(wall.month)}-${two(wall.day)} ${two(wall.hour)}:${two(wall.minute)}`;
  const time = DateTime.fromObject(wall, { zone, locale: "en" });
  if (time.hour !== wall.hour || time.minute !== wall.minute)
    throw wrongUsage(
      `${option}: ${shown} does not exist in ${zone}: the clocks go forward.`,
      `Give another time: ${time.toFormat("HH:mm")} is one hour later.`,
    );
  const possible = time.getPossibleOffsets();
  if (possible.length > 1)
    throw wrongUsage(
      `${option}: ${shown} occurs twice in ${zone}: the clocks go back.`,
      `Give one of them with its offset: ${possible
        .sort((a, b) => a.toMillis() - b.toMillis())
        .map((one) => one.toISO({ suppressMilliseconds: true }))
        .join(" or ")}.`,
    );
  return time.toMillis();
}

function two(n: number, digits = 2): string {
  return String(n).padStart(digits, "0");
}

/** A moment as it is echoed: in the zone, on this computer where that has another one, in UTC, and how far it is. */
export function timeEcho(at: number, { given, local }: Zones, now: number): string {
  const shown = [given, local, "UTC"].map((zone) => timeIn(at, zone));
  return `${[...new Set(shown)].join(" = ")}, ${distanceWords(at, now)}`;
}

function isUtc(zone: string): boolean {
  return /^(etc\/)?(utc|uct|zulu|universal)$/i.test(zone);
}

/** `Sat 2036-01-05 02:00 Europe/Berlin (+01:00)`. */
export function timeIn(at: number, zone: string): string {
  const time = DateTime.fromMillis(at, { zone, locale: "en" });
  const seconds = time.second === 0 ? "" : ":ss";
  if (isUtc(zone)) return time.toFormat(`ccc yyyy-LL-dd HH:mm${seconds} 'UTC'`);
  return `${time.toFormat(`ccc yyyy-LL-dd HH:mm${seconds}`)} ${zone} (${time.toFormat("ZZ")})`;
}

/** `Sat 5 Jan 02:00`, for where the zone stands elsewhere. */
export function shortTimeIn(at: number, zone: string): string {
  return DateTime.fromMillis(at, { zone, locale: "en" }).toFormat("ccc d LLL HH:mm");
}
