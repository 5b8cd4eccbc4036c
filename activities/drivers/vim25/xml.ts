import XMLBuilder from "fast-xml-builder";
import { XMLParser } from "fast-xml-parser";

/** An XML element as it is parsed: a text where it has neither attributes nor children, else an object of both. */
export type XmlValue = string | XmlObject | readonly (string | XmlObject)[];
export interface XmlObject {
  readonly [name: string]: XmlValue | undefined;
}

/** Name of an attribute in an {@link XmlObject}. */
export const attribute = (name: string) => `@${name}`;
/** Name of the text of an element that has attributes too. */
export const textOf = "#text";

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  textNodeName: textOf,
  // The namespaces of the envelope have other prefixes at every vendor; what is in it is told apart by name alone.
  transformTagName: (name) => name.replace(/^[^:]*:/, ""),
  // What looks like a number may be a name or a version.
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: true,
  ignoreDeclaration: true,
  // Numeric character references, which some servers write for quotes and line ends.
  htmlEntities: true,
});

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  textNodeName: textOf,
  suppressEmptyNode: true,
  suppressBooleanAttributes: false,
});

/** Parses a document; throws where it is not well-formed. */
export function parseXml(text: string): XmlObject {
  return parser.parse(text, true) as XmlObject;
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
