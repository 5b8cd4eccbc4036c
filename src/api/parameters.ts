import * as t from "io-ts";
import { DescribedType } from "../domain/codec";

/** A whole number in decimal digits, as it stands in a query string, within inclusive bounds. */
export function DecimalBetween(minimum: number, maximum: number): DescribedType<number> {
  const fits = (n: number) => Number.isInteger(n) && n >= minimum && n <= maximum;
  return new DescribedType<number>(
    `a whole number from ${minimum} to ${maximum}`,
    { type: "integer", minimum, maximum },
    (u): u is number => typeof u === "number" && fits(u),
    (u, c) =>
      typeof u === "string" && /^\d{1,10}$/.test(u) && fits(Number(u)) ? t.success(Number(u)) : t.failure(u, c),
    String,
  );
}

const visibleAscii = /^[\x21-\x7e]{1,255}$/;

/** The value of the `Idempotency-Key` header: 1 to 255 visible ASCII characters (docs/spec-gaps.md). */
export const IdempotencyKey = new DescribedType<string>(
  "1 to 255 visible ASCII characters without spaces",
  {
    type: "string",
    minLength: 1,
    maxLength: 255,
    pattern: "^[!-~]+$",
    description: "Makes a repeated request safe: the same key with the same body answers the same Task.",
  },
  (u): u is string => typeof u === "string" && visibleAscii.test(u),
  (u, c) => (typeof u === "string" && visibleAscii.test(u) ? t.success(u) : t.failure(u, c)),
  t.identity,
);

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The id of an upgrade and of its task: a UUID in lower case. */
export const UpgradeId = new DescribedType<string>(
  "a UUID",
  { type: "string", format: "uuid" },
  (u): u is string => typeof u === "string" && uuid.test(u),
  (u, c) => (typeof u === "string" && uuid.test(u) ? t.success(u) : t.failure(u, c)),
  t.identity,
);
