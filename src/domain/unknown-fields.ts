import type * as t from "io-ts";
import { shapeOf } from "./codec-shape";

/**
 * Paths of the fields that a codec does not know and decoding therefore drops, such as `resourceUpgradeSpecs[0].typo`,
 * in their own order. What does not decode at all is not looked into.
 */
export function unknownFields(codec: t.Mixed, value: unknown, path = ""): readonly string[] {
  const shape = shapeOf(codec);
  if (shape.kind === "list") return elementsOf(shape.element, value, path);
  if (shape.kind === "described" && shape.codec.schema.items) return elementsOf(shape.codec.schema.items, value, path);
  if (shape.kind !== "object" || typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const fields: t.Props = { ...shape.required, ...shape.optional };
  return Object.entries(value).flatMap(([name, inner]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return field ? unknownFields(field, inner, at) : [at];
  });
}

function elementsOf(element: t.Mixed, value: unknown, path: string): readonly string[] {
  return Array.isArray(value) ? value.flatMap((inner, i) => unknownFields(element, inner, `${path}[${i}]`)) : [];
}
