import type * as t from "io-ts";
import { shapeOf } from "./codec-shape";

/**
 * A value without the optional fields that are null, at every depth: many clients write null for what they leave out. A
 * required field that is null stays, and so do fields that the codec does not know.
 */
export function withoutNulls(codec: t.Mixed, value: unknown): unknown {
  const shape = shapeOf(codec);
  const element =
    shape.kind === "list" ? shape.element : shape.kind === "described" ? shape.codec.schema.items : undefined;
  if (element) return Array.isArray(value) ? value.map((inner) => withoutNulls(element, inner)) : value;
  if (shape.kind !== "object" || typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { required, optional } = shape;
  const fieldOf = (name: string) =>
    Object.hasOwn(required, name) ? required[name] : Object.hasOwn(optional, name) ? optional[name] : undefined;
  const kept = Object.entries(value).filter(([name, inner]) => inner !== null || !Object.hasOwn(optional, name));
  return Object.fromEntries(
    kept.map(([name, inner]: [string, unknown]) => {
      const field = fieldOf(name);
      return [name, field ? withoutNulls(field, inner) : inner];
    }),
  );
}
