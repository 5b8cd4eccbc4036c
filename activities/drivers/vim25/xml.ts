import XMLBuilder from "fast-xml-builder";
import { SaxesParser } from "saxes";

/** An XML element as it is parsed: a text where it has neither attributes nor children, else an object of both. */
export type XmlValue = string | XmlObject | readonly (string | XmlObject)[];
export interface XmlObject {
  readonly [name: string]: XmlValue | undefined;
}

/** Name of an attribute in an {@link XmlObject}. */
export const attribute = (name: string) => `@${name}`;
/** Name of the text of an element that has attributes too. */
export const textOf = "#text";

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  textNodeName: textOf,
  suppressEmptyNode: true,
  suppressBooleanAttributes: false,
});

/** Characters that XML has no way to say, and references to them; names of virtual machines may have them all the same. */
const unspeakable =
  /(?![\t\n\r])\p{Cc}|[\ufffe\uffff]|&#(?:x0*(?:[0-8bcef]|1[0-9a-f])|0*(?:[0-8]|1[124-9]|2\d|3[01]));/giu;

type XmlItem = string | XmlObject;

/** An element while it is read. */
interface Open {
  readonly name: string;
  readonly fields: Record<string, XmlItem | XmlItem[]>;
  text: string;
}

/** Parses a document; throws where it is not well-formed. Control characters are read as U+FFFD. */
export function parseXml(text: string): XmlObject {
  const document = opened("");
  const path: Open[] = [document];
  let current = document;
  const parser = new SaxesParser({ xmlns: false });
  parser.on("opentag", ({ name, attributes }) => {
    current = opened(withoutPrefix(name));
    for (const [key, value] of Object.entries(attributes)) current.fields[attribute(key)] = value;
    path.push(current);
  });
  const add = (more: string) => {
    current.text += more;
  };
  parser.on("text", add);
  parser.on("cdata", add);
  parser.on("closetag", () => {
    const { name } = current;
    const value = valueOf(current);
    path.pop();
    current = path.at(-1) ?? document;
    const known = current.fields[name];
    if (known === undefined) current.fields[name] = value;
    else if (Array.isArray(known)) known.push(value);
    else current.fields[name] = [known, value];
  });
  parser.write(text.replace(unspeakable, "\ufffd")).close();
  return document.fields;
}

function opened(name: string): Open {
  // Without a prototype: no element's name means anything to JavaScript.
  return { name, fields: Object.create(null) as Open["fields"], text: "" };
}

function valueOf({ fields, text }: Open): XmlItem {
  const trimmed = text.trim();
  if (Object.keys(fields).length === 0) return trimmed;
  if (trimmed !== "") fields[textOf] = trimmed;
  return fields;
}

/** The namespaces of the envelope have other prefixes at every vendor; what is in it is told apart by name alone. */
function withoutPrefix(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** The XML of nested objects; lists are repeated elements, fields that are undefined are left out. */
export function buildXml(value: XmlObject): string {
  return builder.build(withoutAbsent(value));
}

/** An element that may be absent, there once or there often. */
export function listOf<A>(value: A | readonly A[] | undefined): readonly A[] {
  if (value === undefined || value === "") return [];
  return Array.isArray(value) ? (value as readonly A[]) : [value as A];
}

function withoutAbsent(value: XmlObject): Record<string, unknown> {
  const entries = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
    if (field === undefined) return [];
    if (typeof field === "string") return [[name, field]];
    if (Array.isArray(field))
      return [[name, field.map((item) => (typeof item === "string" ? item : withoutAbsent(item as XmlObject)))]];
    return [[name, withoutAbsent(field as XmlObject)]];
  });
  return Object.fromEntries(entries);
}
