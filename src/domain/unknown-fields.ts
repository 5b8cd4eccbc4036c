import type * as t from "io-ts";
import { shapeOf } from "./codec-shape";
import { nearestName } from "./nearest-name";

/** A field that a codec does not know and decoding therefore drops. */
export interface UnknownField {
  /** Such as `resourceUpgradeSpecs[0].typo`. */
  readonly path: string;
  readonly name: string;
  readonly value: unknown;
  /** The names that are known at its place. */
  readonly known: readonly string[];
}

/** The fields that a codec does not know, in their own order. What does not decode at all is not looked into. */
export function unknownFields(codec: t.Mixed, value: unknown, path = ""): readonly UnknownField[] {
  const shape = shapeOf(codec);
  if (shape.kind === "list") return elementsOf(shape.element, value, path);
  if (shape.kind === "described" && shape.codec.schema.items) return elementsOf(shape.codec.schema.items, value, path);
  if (shape.kind !== "object" || typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const fields: t.Props = { ...shape.required, ...shape.optional };
  const known = Object.keys(fields);
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return field ? unknownFields(field, inner, at) : [{ path: at, name, value: inner, known }];
  });
}

function elementsOf(element: t.Mixed, value: unknown, path: string): readonly UnknownField[] {
  return Array.isArray(value) ? value.flatMap((inner, i) => unknownFields(element, inner, `${path}[${i}]`)) : [];
}

/** A line for each field of a file that its codec does not know, with the nearest name that is known at its place. */
export function unknownFieldLines(codec: t.Mixed, content: unknown): readonly string[] {
  return unknownFields(codec, content).map(({ path, name, known }) => {
    const nearest = nearestName(name, known);
    return `${path}: there is no such field.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`;
  });
}

/** The known name that an unknown field most likely stands for: one of its own place, or the same name at another place. */
export function nearestKnownName(codec: t.Mixed, { name, known }: UnknownField): string | undefined {
  const elsewhere = known.includes(name) ? undefined : pathsByName(codec).get(name);
  return elsewhere ?? nearestName(name, known);
}

/** Every field name that a codec knows at any depth, with the path of the first place: `resourceUpgradeSpecs[].toVersion`. */
function pathsByName(codec: t.Mixed, path = "", found = new Map<string, string>()): ReadonlyMap<string, string> {
  const shape = shapeOf(codec);
  const element =
    shape.kind === "list" ? shape.element : shape.kind === "described" ? shape.codec.schema.items : undefined;
  if (element) return pathsByName(element, `${path}[]`, found);
  if (shape.kind !== "object") return found;
  for (const [name, field] of Object.entries<t.Mixed>({ ...shape.required, ...shape.optional })) {
    const at = path === "" ? name : `${path}.${name}`;
    if (!found.has(name)) found.set(name, at);
    pathsByName(field, at, found);
  }
  return found;
}
