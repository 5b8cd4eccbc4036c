import fc from "fast-check";
import type * as t from "io-ts";
import { type LeafSchema, shapeOf } from "../../../src/domain/codec";

/** How values are made: whether every optional field is there, and how deep recursive models nest. */
export interface ArbitraryOptions {
  readonly allFields?: boolean;
  readonly depth?: number;
}

/** Values that a codec accepts, made from the codec itself, so that no field of a model can be forgotten. */
export function arbitraryOf<C extends t.Mixed>(codec: C, options: ArbitraryOptions = {}): fc.Arbitrary<t.TypeOf<C>> {
  return arbitrary(codec, options);
}

function arbitrary(codec: t.Mixed, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  const shape = shapeOf(codec);
  switch (shape.kind) {
    case "object":
      return object(shape.required, shape.optional, options);
    case "list":
      return fc.array(arbitrary(shape.element, options), { maxLength: 2 });
    case "map":
      return fc.dictionary(fc.string({ minLength: 1 }), arbitrary(shape.value, options), {
        maxKeys: 3,
        noNullPrototype: true,
      });
    case "spellings":
      return fc.constantFrom(...shape.spellings);
    case "described":
      return leaf(shape.codec.schema, options);
    case "string":
      return fc.string({ unit: "grapheme" });
    case "number":
      // JSON writes -0 as 0.
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n));
    case "boolean":
      return fc.boolean();
    default:
      throw new Error(`No values are known for ${codec.name}`);
  }
}

function object(required: t.Props, optional: t.Props, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  const { allFields = false, depth = 3 } = options;
  const inner = { ...options, depth: depth - 1 };
  const needed = Object.entries(required);
  const further = depth > 0 ? Object.entries(optional) : [];
  const fields = Object.fromEntries([...needed, ...further].map(([name, field]) => [name, arbitrary(field, inner)]));
  return fc.record(fields, {
    requiredKeys: allFields ? Object.keys(fields) : needed.map(([name]) => name),
    noNullPrototype: true,
  });
}

function leaf(schema: LeafSchema, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map((one) => leaf(one, options)));
  if (schema.type === "integer")
    return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 0, 2 ** 31 - 1) });
  if (schema.type === "array" && schema.items) {
    const minLength = schema.minItems ?? 0;
    return fc.array(arbitrary(schema.items, options), { minLength, maxLength: minLength + 1 });
  }
  if (schema.format === "date-time") {
    return fc
      .date({
        min: new Date("0000-01-03T00:00:00.000Z"),
        max: new Date("9999-12-29T23:59:59.999Z"),
        noInvalidDate: true,
      })
      .map((date) => date.toISOString());
  }
  if (schema.type === "object" && schema.propertyNames && schema.additionalProperties)
    return fc.dictionary(leaf(schema.propertyNames, options).map(String), leaf(schema.additionalProperties, options), {
      maxKeys: 2,
      noNullPrototype: true,
    });
  const { minLength = 0, maxLength = 1024, pattern } = schema;
  if (pattern !== undefined)
    return fc
      .stringMatching(new RegExp(pattern, "u"))
      .filter((text) => text.length >= minLength && text.length <= maxLength);
  return fc.string({ unit: "grapheme-ascii", minLength, maxLength: Math.min(maxLength, 40) });
}
