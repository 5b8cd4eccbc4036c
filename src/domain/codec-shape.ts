import * as t from "io-ts";
import { DescribedType } from "./codec";

/** What a codec accepts, free of how io-ts composes it: what the error reporter and the OpenAPI document look at. */
export type Shape =
  | { readonly kind: "object"; readonly required: t.Props; readonly optional: t.Props }
  | { readonly kind: "list"; readonly element: t.Mixed }
  | { readonly kind: "map"; readonly value: t.Mixed }
  | { readonly kind: "spellings"; readonly spellings: readonly string[] }
  | { readonly kind: "described"; readonly codec: DescribedType<unknown> }
  | { readonly kind: "string" | "number" | "integer" | "boolean" | "object of any fields" | "anything" };

const leaves = new Map<t.Mixed, Shape>([
  [t.string, { kind: "string" }],
  [t.number, { kind: "number" }],
  [t.Int, { kind: "integer" }],
  [t.boolean, { kind: "boolean" }],
  [t.UnknownRecord, { kind: "object of any fields" }],
  [t.unknown, { kind: "anything" }],
]);

/**
 * The shape of a codec that is built from `model`, `OneOf`, `ListOf`, described types and io-ts's plain ones.
 * Throws for any other kind, because a shape that is guessed would make the OpenAPI document untrue.
 */
export function shapeOf(codec: t.Mixed): Shape {
  const leaf = leaves.get(codec);
  if (leaf) return leaf;
  if (codec instanceof DescribedType) return { kind: "described", codec };
  if (codec instanceof t.KeyofType) return { kind: "spellings", spellings: Object.keys(codec.keys) };
  if (codec instanceof t.ArrayType) return { kind: "list", element: codec.type };
  if (codec instanceof t.DictionaryType) return { kind: "map", value: codec.codomain };
  if (codec instanceof t.InterfaceType) return { kind: "object", required: codec.props, optional: {} };
  if (codec instanceof t.PartialType) return { kind: "object", required: {}, optional: codec.props };
  if (codec instanceof t.ExactType) return shapeOf(codec.type);
  if (codec instanceof t.RecursiveType) return shapeOf(codec.type);
  if (codec instanceof t.IntersectionType) return mergedShape(codec.types as t.Mixed[]);
  throw new Error(`No shape is known for the codec ${codec.name}`);
}

function mergedShape(members: readonly t.Mixed[]): Shape {
  const merged = { kind: "object" as const, required: {} as t.Props, optional: {} as t.Props };
  for (const member of members) {
    const shape = shapeOf(member);
    if (shape.kind !== "object")
      throw new Error(`An intersection of anything but objects has no shape: ${member.name}`);
    Object.assign(merged.required, shape.required);
    Object.assign(merged.optional, shape.optional);
  }
  return merged;
}

/** Whether a codec is an intersection behind any wrapper; its members are no level of the decoded value. */
export function isIntersection(codec: t.Mixed): boolean {
  if (codec instanceof t.ExactType || codec instanceof t.RecursiveType) return isIntersection(codec.type as t.Mixed);
  return codec instanceof t.IntersectionType;
}
