import { SaxesParser } from "saxes";

/** An XML element: its text where it has neither attributes nor children, else an object of all three. */
export type XmlItem = string | XmlObject;
export type XmlValue = XmlItem | readonly XmlItem[];
export interface XmlObject {
  readonly [name: string]: XmlValue | undefined;
}

/** Name of an attribute in an {@link XmlObject}. */
export const attribute = (name: string) => `@${name}`;
/** Name of the text of an element that has attributes too. */
export const textOf = "#text";

/** Characters that XML has no way to say, and references to them; names of virtual machines may have them all the same. */
const unspeakable =
  /(?![\t\n\r])\p{Cc}|[\ufffe\uffff]|&#(?:x0*(?:[0-8bcef]|1[0-9a-f])|0*(?:[0-8]|1[124-9]|2\d|3[01]));/giu;

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

/**
 * The XML of nested objects; lists are repeated elements, fields that are undefined are left out. Written here because
 * saxes only reads, and no library that does both refuses all that is not well-formed (test/unit/xml.test.ts).
 */
export function buildXml(value: XmlObject): string {
  return Object.entries(value).map(writeField).join("");
}

function writeField([name, value]: [string, XmlValue | undefined]): string {
  if (value === undefined) return "";
  if (name === textOf && typeof value === "string") return escapeXml(value);
  const items = Array.isArray(value) ? (value as readonly XmlItem[]) : [value as XmlItem];
  return items.map((item) => writeElement(name, item)).join("");
}

function writeElement(name: string, item: XmlItem): string {
  const fields = Object.entries(typeof item === "string" ? { [textOf]: item } : item);
  const [attributes, content] = [fields.filter(isAttribute), fields.filter((field) => !isAttribute(field))];
  const start = `<${name}${attributes.map(writeAttribute).join("")}`;
  const inner = content.map(writeField).join("");
  return inner === "" ? `${start}/>` : `${start}>${inner}</${name}>`;
}

const isAttribute = ([name]: [string, unknown]) => name.startsWith(attribute(""));

function writeAttribute([name, value]: [string, XmlValue | undefined]): string {
  return typeof value === "string" ? ` ${name.slice(1)}="${escapeXml(value)}"` : "";
}

const escapes: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&${escapes[character]};`);
}

/** An element that may be absent, there once or there often. */
export function listOf<A>(value: A | readonly A[] | undefined): readonly A[] {
  if (value === undefined || value === "") return [];
  return Array.isArray(value) ? (value as readonly A[]) : [value as A];
}
