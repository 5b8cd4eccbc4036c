import * as t from "io-ts";
import { DescribedType } from "./codec";

/** RFC 3339, and what others write for the same moment: no seconds, a space for the T, an offset without colon or minutes. */
const dated =
  /^(\d{4})-(\d{2})-(\d{2})[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,9}))?)? ?(?:(Z)|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)$/i;

/** The days from which an offset can lead out of the years 0000 to 9999, which RFC 3339 cannot tell in UTC. */
const outermost = /^(?:0000-01-01.*\+|9999-12-31.*-\d\d:\d\d$)/;

/** The same for readers of the OpenAPI document, whose regular expressions know no flag. */
const pattern =
  "^(?!0000-01-01.*\\+|9999-12-31.*-[0-9]{2}:[0-9]{2}$)[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt](?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}(?:\\.[0-9]{1,9})?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$";

/** Milliseconds since the epoch of a time with any offset, or undefined. Digits past milliseconds are cut. */
function parse(text: string): number | undefined {
  const parts = dated.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second = "00", fraction = "", utc, sign = "+", ahead = "00", more = "00"] =
    parts;
  const offset = utc === undefined ? `${sign}${ahead}:${more}` : "Z";
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, "0").slice(0, 3)}`;
  if (outermost.test(`${local}${offset}`)) return undefined;
  const asUtc = Date.parse(`${local}Z`);
  // Date.parse rolls 30 February over into March; a date that does not exist is an error here.
  if (Number.isNaN(asUtc) || !new Date(asUtc).toISOString().startsWith(`${year}-${month}-${day}T`)) return undefined;
  return Date.parse(`${local}${offset}`);
}

/** In what a text differs from a time, for whoever wrote it; undefined where it is none at all. Without full stop. */
function whatDiffers(value: unknown): string | undefined {
  if (typeof value !== "string") return typeof value === "number" ? "a time is a text, not a number" : undefined;
  if (value !== value.trim()) return "there is a space before or after it";
  const [, year, month, day, rest] = /^(\d+)-(\d+)-(\d+)(.*)$/s.exec(value) ?? [];
  if (year === undefined || month === undefined || day === undefined || rest === undefined)
    return "it does not begin with year, month and day, such as 2026-12-01";
  if (year.length !== 4 || month.length !== 2 || day.length !== 2) return "year, month and day have 4, 2 and 2 digits";
  const date = `${year}-${month}-${day}`;
  const at = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(at) || !toTimestamp(at).startsWith(date)) return `there is no day ${date}`;
  if (rest === "") return "the time of day and its zone are missing";
  const [, hour, minute, second, zone] = /^[T ](\d+):(\d+)(?::(\d+)(?:[.,]\d+)?)?(.*)$/is.exec(rest) ?? [];
  if (hour === undefined || minute === undefined) return "the time of day is not written T09:30:00";
  const times = [hour, minute, second ?? "00"];
  if (times.some((one, i) => one.length !== 2 || Number(one) > (i === 0 ? 23 : 59)))
    return `there is no time of day ${times.join(":")}`;
  if (zone === "" || zone === undefined) return "its zone is missing: Z or an offset, such as +01:00";
  if (!/^ ?(?:Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)$/i.test(zone))
    return "its zone is neither Z nor an offset, such as +01:00";
  return "it is not from the years 0000 to 9999 in UTC, or has more than nine digits after the second";
}

/** A point in time as the interface shows it: RFC 3339, UTC, milliseconds (`2026-12-01T09:30:00.000Z`). */
export function toTimestamp(epochMilliseconds: number): string {
  return new Date(epochMilliseconds).toISOString();
}

/** The same for sentences, to the minute: `2026-12-01 09:30 UTC`. */
export function utcMinute(epochMilliseconds: number): string {
  return `${toTimestamp(epochMilliseconds).slice(0, 16).replace("T", " ")} UTC`;
}

/** Epoch milliseconds of a decoded {@link Timestamp}. */
export function toEpochMilliseconds(timestamp: string): number {
  return Date.parse(timestamp);
}

/** Most of all timestamps, in the form that we write: every day but 29 February, which not every year has. */
const usual =
  /^\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const isTimestamp = (u: unknown): u is string => {
  // A large Task has tens of thousands of them, and a Date for each is most of the cost of an answer.
  if (typeof u === "string" && usual.test(u)) return true;
  const at = typeof u === "string" ? parse(u) : undefined;
  return at !== undefined && toTimestamp(at) === u;
};

/**
 * A timestamp (Spec 2.6 leaves the format open, see docs/spec-gaps.md). Accepts RFC 3339 with or without a
 * fraction and with any offset, and other ways to write one moment; decodes to UTC with milliseconds. A time without a
 * zone is refused: it would mean another moment on another machine.
 */
export const Timestamp = new DescribedType<string>(
  "an RFC 3339 time with a zone, such as 2026-12-01T09:30:00Z",
  { type: "string", format: "date-time", pattern },
  isTimestamp,
  (u, c) => {
    if (isTimestamp(u)) return t.success(u);
    const at = typeof u === "string" ? parse(u) : undefined;
    return at === undefined ? t.failure(u, c) : t.success(toTimestamp(at));
  },
  t.identity,
  whatDiffers,
);
