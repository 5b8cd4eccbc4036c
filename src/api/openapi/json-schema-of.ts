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

/**
 * The schema of a codec itself. Fields that it does not know are allowed, because they are ignored. In requests
 * (`nullIsAbsent`) optional fields may be null, at every depth that has no component of its own.
 */
export function jsonSchemaInFull(codec: t.Mixed, nameOf: ComponentName, nullIsAbsent = false): JsonSchema {
  const shape = shapeOf(codec);
  const inner = (part: t.Mixed) =>
    nameOf(part) === undefined ? jsonSchemaInFull(part, nameOf, nullIsAbsent) : jsonSchemaOf(part, nameOf);
  switch (shape.kind) {
    case "object": {
      const required = Object.keys(shape.required);
      // OpenAPI's own tools do not know lists of types yet.
      const orNull = (schema: JsonSchema) => (nullIsAbsent ? { anyOf: [schema, { enum: [null] }] } : schema);
      return {
        type: "object",
        ...(required.length > 0 && { required }),
        properties: {
          ...mapValues(shape.required, inner),
          ...mapValues(shape.optional, (field) => orNull(inner(field))),
        },
      };
    }
    case "list":
      return { type: "array", items: inner(shape.element) };
    case "map":
      return { type: "object", additionalProperties: jsonSchemaOf(shape.value, nameOf) };
    case "spellings":
      return { type: "string", enum: shape.spellings };
    case "described": {
      const { items, ...leaf } = shape.codec.schema;
      return { ...leaf, ...(items && { items: inner(items) }) };
    }
    case "object of any fields":
      return { type: "object" };
    case "anything":
      return {};
    default:
      return { type: shape.kind };
  }
}

function mapValues(props: t.Props, schemaOf: (codec: t.Mixed) => JsonSchema): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries<t.Mixed>(props).map(([name, codec]) => [name, schemaOf(codec)]));
}
