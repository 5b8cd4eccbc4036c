import type * as t from "io-ts";
import { shapeOf } from "../../domain/codec-shape";

/** A JSON Schema (2020-12) as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Name of the component that describes a codec, where it has one. */
export type ComponentName = (codec: t.Mixed) => string | undefined;

/** The schema of a codec at the place where it is used: a reference where the codec is a named component. */
export function jsonSchemaOf(codec: t.Mixed, nameOf: ComponentName): JsonSchema {
  const name = nameOf(codec);
  return name === undefined ? jsonSchemaInFull(codec, nameOf) : { $ref: `#/components/schemas/${name}` };
}

/** The schema of a codec itself. Fields that it does not know are allowed, because they are ignored. */
export function jsonSchemaInFull(codec: t.Mixed, nameOf: ComponentName): JsonSchema {
  const shape = shapeOf(codec);
  switch (shape.kind) {
    case "object": {
      const required = Object.keys(shape.required);
      const properties = Object.entries({ ...shape.required, ...shape.optional });
      return {
        type: "object",
        ...(required.length > 0 && { required }),
        properties: Object.fromEntries(properties.map(([key, property]) => [key, jsonSchemaOf(property, nameOf)])),
      };
    }
    case "list":
      return { type: "array", items: jsonSchemaOf(shape.element, nameOf) };
    case "map":
      return { type: "object", additionalProperties: jsonSchemaOf(shape.value, nameOf) };
    case "spellings":
      return { type: "string", enum: shape.spellings };
    case "described": {
      const { items, ...leaf } = shape.codec.schema;
      return { ...leaf, ...(items && { items: jsonSchemaOf(items, nameOf) }) };
    }
    case "object of any fields":
      return { type: "object" };
    case "anything":
      return {};
    default:
      return { type: shape.kind };
  }
}
