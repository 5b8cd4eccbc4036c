import fc from "fast-check";
import type * as t from "io-ts";
import { type LeafSchema, shapeOf } from "../../../src/domain/codec";
import { seed } from "./tally";

/** The keys that lead to a part of a value; none for the value as a whole. */
export type Place = readonly (string | number)[];

/** A value that has every field of a codec, at every depth. Lists have one element. */
export function fullValue(codec: t.Mixed): unknown {
  const shape = shapeOf(codec);
  switch (shape.kind) {
    case "object":
      return Object.fromEntries(
        Object.entries({ ...shape.required, ...shape.optional }).map(([name, field]) => [name, fullValue(field)]),
      );
    case "list":
      return [fullValue(shape.element)];
    case "map":
      return { any: fullValue(shape.value) };
    case "spellings":
      return shape.spellings[0];
    case "described":
      return describedValue(shape.codec.schema);
    case "boolean":
      return true;
    case "integer":
    case "number":
      return 1;
    case "string":
    case "anything":
      return "x";
    case "object of any fields":
      return {};
  }
}

function describedValue({ type, format, items, oneOf, minimum = 1, pattern, maxLength }: LeafSchema): unknown {
  if (oneOf?.[0]) return describedValue(oneOf[0]);
  if (type === "array") return [fullValue(items!)];
  if (type === "object") return { any: "x" };
  if (type === "integer") return minimum;
  if (format === "date-time") return "2036-12-01T09:30:00.000Z";
  if (format === "byte") return "QUJD";
  return pattern === undefined || new RegExp(pattern).test("x") ? "x" : textOfPattern(pattern, maxLength);
}

function textOfPattern(pattern: string, maxLength = Infinity): string {
  const texts = fc.stringMatching(new RegExp(pattern), { size: "xsmall" }).filter(({ length }) => length <= maxLength);
  return fc.sample(texts, { numRuns: 1, seed })[0]!;
}

/** Every place in a value, the value itself first. */
export function placesIn(value: unknown, place: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [place];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return [place, ...keys.flatMap((key) => placesIn((value as Record<string | number, unknown>)[key], [...place, key]))];
}

/** A place as messages name it: `resourceUpgradeSpecs[0].resourceId`; the whole value is "The body". */
export function pathOf(place: Place): string {
  const path = place.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  return path === "" ? "The body" : path.replace(/^\./, "");
}

/** The text of a member or element: its key in quotation marks with a colon, "" where it has none, and its value. */
export type Rewrite = (key: string, value: string) => string;

/** A value as JSON, in which a place is written another way than JSON.stringify would: also what no value can say. */
export function textWith(value: unknown, place: Place, rewrite: Rewrite): string {
  const write = (part: unknown, left: Place | undefined, key: string): string => {
    const text = textOf(part, left, write);
    return left?.length === 0 ? rewrite(key, text) : key + text;
  };
  return write(value, place, "");
}

function textOf(
  value: unknown,
  left: Place | undefined,
  write: (part: unknown, left: Place | undefined, key: string) => string,
): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const below = (key: string | number) => (left?.[0] === key ? left.slice(1) : undefined);
  const written = Array.isArray(value)
    ? value.map((part, i) => write(part, below(i), ""))
    : Object.entries(value).map(([key, part]) => write(part, below(key), `${JSON.stringify(key)}:`));
  const text = written.filter((part) => part !== "").join(",");
  return Array.isArray(value) ? `[${text}]` : `{${text}}`;
}

/** A copy of a value with another part at a place; as it is where the place is no longer there. */
export function valueWith(value: unknown, [key, ...rest]: Place, by: unknown): unknown {
  if (key === undefined) return by;
  if (typeof value !== "object" || value === null) return value;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string | number, unknown>;
  copy[key] = valueWith(copy[key], rest, by);
  return copy;
}
