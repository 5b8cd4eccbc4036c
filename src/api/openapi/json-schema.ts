import type * as t from "io-ts";
import { shapeOf } from "../../domain/codec";

/** A JSON Schema (2020-12) as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Name of the component that describes a codec, where it has one. */
type ComponentName = (codec: t.Mixed) => string | undefined;

/** The schema of a codec at the place where it is used: a reference where the codec is a named component. */
export function jsonSchemaOf(codec: t.Mixed, nameOf: ComponentName): JsonSchema {
  const name = nameOf(codec);
  return name === undefined ? jsonSchemaInFull(codec, nameOf) : { $ref: `#/components/schemas/${name}` };
}

interface Details {
  /** What each field of an object is, by its name. */
  readonly fields?: Readonly<Record<string, string>>;
  /** In requests null is as good as nothing in an optional field. */
  readonly nullIsAbsent?: boolean;
}

/** The schema of a codec itself. Fields that it does not know are allowed, because they are ignored. */
export function jsonSchemaInFull(
  codec: t.Mixed,
  nameOf: ComponentName,
  { fields = {}, nullIsAbsent = false }: Details = {},
): JsonSchema {
  const shape = shapeOf(codec);
  const inner = (part: t.Mixed) => jsonSchemaOf(part, nameOf);
  switch (shape.kind) {
    case "object": {
      const names = Object.keys(shape.required);
      const property = (name: string, schema: JsonSchema) => {
        const description = fields[name];
        return description === undefined ? schema : { description, ...schema };
      };
      return {
        type: "object",
        ...(names.length > 0 && { required: names }),
        properties: {
          ...mapValues(shape.required, (field, name) => property(name, inner(field))),
          ...mapValues(shape.optional, (field, name) =>
            property(name, nullIsAbsent ? orNull(inner(field)) : inner(field)),
          ),
        },
      };
    }
    case "list":
      return { type: "array", items: inner(shape.element) };
    case "map":
      return { type: "object", additionalProperties: inner(shape.value) };
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

/** Client generators know these two ways to say it, and make an optional field of either. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  return typeof type === "string" ? { ...schema, type: [type, "null"] } : { anyOf: [schema, { type: "null" }] };
}

function mapValues(props: t.Props, schemaOf: (codec: t.Mixed, name: string) => JsonSchema): Record<string, JsonSchema> {
  return Object.fromEntries(Object.entries<t.Mixed>(props).map(([name, codec]) => [name, schemaOf(codec, name)]));
}
