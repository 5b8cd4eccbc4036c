import * as t from "io-ts";
import { DescribedType } from "./codec";
import { nearestName } from "./nearest-name";

/** A line for each field of a file that its codec does not know, with the name known at its place that it is most like. */
export function unknownFieldLines(codec: t.Mixed, content: unknown, path = ""): readonly string[] {
  const element = elementOf(codec);
  if (element && Array.isArray(content))
    return content.flatMap((inner, i) => unknownFieldLines(element, inner, `${path}[${i}]`));
  const fields = fieldsOf(codec);
  if (!fields || typeof content !== "object" || content === null || Array.isArray(content)) return [];
  return Object.entries(content).flatMap(([name, inner]: [string, unknown]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field) return unknownFieldLines(field, inner, at);
    const nearest = nearestName(name, Object.keys(fields));
    return [`${at}: there is no such field.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`];
  });
}

function elementOf(codec: t.Mixed): t.Mixed | undefined {
  if (codec instanceof t.ArrayType) return codec.type as t.Mixed;
  return codec instanceof DescribedType ? codec.schema.items : undefined;
}

/** The fields of an object; undefined of what is none, or may have any. */
function fieldsOf(codec: t.Mixed): t.Props | undefined {
  if (codec instanceof t.InterfaceType || codec instanceof t.PartialType) return codec.props as t.Props;
  if (codec instanceof t.ExactType || codec instanceof t.RecursiveType) return fieldsOf(codec.type as t.Mixed);
  if (!(codec instanceof t.IntersectionType)) return undefined;
  return Object.assign({}, ...(codec.types as t.Mixed[]).map(fieldsOf)) as t.Props;
}
