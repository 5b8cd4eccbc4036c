import * as t from "io-ts";
import { DescribedType } from "./codec";

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** Milliseconds since the epoch of an RFC 3339 time with any offset, or undefined. Digits past milliseconds are cut. */
function parse(text: string): number | undefined {
  const parts = rfc3339.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", offset = "Z"] = parts;
  const milliseconds = fraction.padEnd(3, "0").slice(0, 3);
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}`;
  const asUtc = Date.parse(`${local}Z`);
  // Date.parse rolls 30 February over into March; a date that does not exist is an error here.
  if (Number.isNaN(asUtc) || !new Date(asUtc).toISOString().startsWith(`${year}-${month}-${day}T`)) return undefined;
  const at = Date.parse(`${local}${offset.toUpperCase()}`);
  const utcYear = new Date(at).getUTCFullYear();
  return utcYear >= 0 && utcYear <= 9999 ? at : undefined;
}

/** A point in time as the interface shows it: RFC 3339, UTC, milliseconds (`2026-12-01T09:30:00.000Z`). */
export function toTimestamp(epochMilliseconds: number): string {
  return new Date(epochMilliseconds).toISOString();
}

/** Epoch milliseconds of a decoded {@link Timestamp}. */
export function toEpochMilliseconds(timestamp: string): number {
  return Date.parse(timestamp);
}

const isTimestamp = (u: unknown): u is string => {
  const at = typeof u === "string" ? parse(u) : undefined;
  return at !== undefined && toTimestamp(at) === u;
};

/**
 * A timestamp (Spec 2.6 leaves the format open, see docs/spec-gaps.md). Accepts RFC 3339 with or without a
 * fraction and with any offset; decodes to UTC with milliseconds. A time without a zone is refused: it would
 * mean another moment on another machine.
 */
export const Timestamp = new DescribedType<string>(
  "an RFC 3339 time with a zone, such as 2026-12-01T09:30:00Z",
  { type: "string", format: "date-time" },
  isTimestamp,
  (u, c) => {
    const at = typeof u === "string" ? parse(u) : undefined;
    return at === undefined ? t.failure(u, c) : t.success(toTimestamp(at));
  },
  t.identity,
);
