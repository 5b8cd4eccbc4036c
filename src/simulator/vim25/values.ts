import type { XmlItem, XmlValue } from "../../xml";

/** A value of a property with its type in the vendor's schema, so that it can be written where any type may stand. */
export type Value =
  | { readonly is: "text"; readonly type: string; readonly text: string }
  | { readonly is: "reference"; readonly type: string; readonly id: string }
  | { readonly is: "object"; readonly type: string; readonly fields: Fields }
  | { readonly is: "list"; readonly of: string; readonly items: readonly Value[] };

/** Fields of an object; those that are undefined exist and are not set. */
export type Fields = Readonly<Record<string, Value | undefined>>;

export const text = (value: string): Value => ({ is: "text", type: "xsd:string", text: value });
export const boolean = (value: boolean): Value => ({ is: "text", type: "xsd:boolean", text: String(value) });
export const integer = (value: number): Value => ({ is: "text", type: "xsd:int", text: String(Math.floor(value)) });
/** Epoch milliseconds as a date of the schema. */
export const moment = (at: number): Value => ({ is: "text", type: "xsd:dateTime", text: new Date(at).toISOString() });
/** One of the names of an enumeration. */
export const name = (type: string, value: string): Value => ({ is: "text", type, text: value });
export const reference = (type: string, id: string): Value => ({ is: "reference", type, id });
export const object = (type: string, fields: Fields): Value => ({ is: "object", type, fields });
/** A list; `of` is the type of its items as `ArrayOf…` names it. */
export const list = (of: string, items: readonly Value[]): Value => ({ is: "list", of, items });

/** The objects that a value refers to, itself or in its items. */
export function referencesIn(value: Value | undefined): readonly { readonly type: string; readonly id: string }[] {
  if (value?.is === "reference") return [value];
  return value?.is === "list" ? value.items.flatMap(referencesIn) : [];
}

/** A value as an element of a known name in an object: lists are as many elements of it. */
export function elementsOf(value: Value): XmlValue {
  switch (value.is) {
    case "text":
      return value.text;
    case "reference":
      return { "@type": value.type, "#text": value.id };
    case "object":
      return { "@xsi:type": value.type, ...fieldsOf(value.fields) };
    case "list":
      return value.items.map((item) => elementsOf(item) as XmlItem);
  }
}

/** A value where any type may stand, so that it carries its own. */
export function anyOf(value: Value): XmlItem {
  switch (value.is) {
    case "text":
      return { "@xsi:type": value.type, "#text": value.text };
    case "reference":
      return { "@xsi:type": "ManagedObjectReference", "@type": value.type, "#text": value.id };
    case "object":
      return { "@xsi:type": value.type, ...fieldsOf(value.fields) };
    case "list": {
      const plain = value.of.replace(/^xsd:/, "");
      const item = plain.charAt(0).toUpperCase() + plain.slice(1);
      return {
        "@xsi:type": `ArrayOf${item}`,
        [value.of.startsWith("xsd:") ? plain : item]: value.items.map((v) => elementsOf(v) as XmlItem),
      };
    }
  }
}

export function fieldsOf(fields: Fields): Record<string, XmlValue> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([field, value]) => (value ? [[field, elementsOf(value)]] : [])),
  );
}
