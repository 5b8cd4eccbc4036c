import type * as t from "io-ts";
import { shapeOf } from "../../domain/codec";
import type { JsonSchema } from "./json-schema";

/** A named schema of the OpenAPI document. */
export interface Component {
  /** Everything that this codec reads or writes refers to the component. */
  readonly codec: t.Mixed;
  readonly description: string;
  /** What each field of an object is; empty for enumerations. */
  readonly fields: Readonly<Record<string, string>>;
  /** What requests are held against beside the codec. */
  readonly inFull?: (schema: JsonSchema) => JsonSchema;
}

/** A description of every field of a model, so that a field without one does not compile. */
type FieldDescriptions<A> = { readonly [K in keyof A]-?: string };

/** A model of the document. Each field needs a description: a sentence that says what it means, with units and defaults. */
export function object<A>(
  codec: t.Type<A, unknown, unknown>,
  description: string,
  fields: FieldDescriptions<A>,
): Component {
  return { codec, description, fields };
}

/**
 * An enumeration of the document, with what each value means. It has a name of its own, so that client generators make
 * one type of it, however many fields have it.
 */
export function enumeration<D extends Record<string, unknown>>(
  codec: t.KeyofC<D>,
  description: string,
  values: { readonly [K in keyof D]: string },
): Component {
  const meanings = Object.entries<string>(values).map(([value, meaning]) => `- \`${value}\`: ${meaning}`);
  return { codec, description: `${description}\n\n${meanings.join("\n")}`, fields: {} };
}

/**
 * The enumeration of a codec that takes further spellings of the same values: the document has one of each, because
 * clients are made from it, and says that there are others.
 */
export function canonicalEnumeration<D extends Record<string, unknown>>(
  codec: t.Mixed,
  canonical: t.KeyofC<D>,
  description: string,
  values: { readonly [K in keyof D]: string },
): Component {
  const shown = spellingsOf(canonical);
  const others = spellingsOf(codec).filter((spelling) => !shown.includes(spelling));
  const { description: meanings, fields } = enumeration(canonical, description, values);
  return {
    codec,
    description: `${meanings}\n\nRequests may also have ${others.map((other) => `\`${other}\``).join(", ")}; answers never have.`,
    fields,
    inFull: () => ({ type: "string", enum: shown }),
  };
}

function spellingsOf(codec: t.Mixed): readonly string[] {
  const shape = shapeOf(codec);
  if (shape.kind !== "spellings") throw new Error(`${codec.name} is no enumeration`);
  return shape.spellings;
}

/** What the fields of one page of a list are. */
export const pageFields = (elements: string) => ({
  elements: `The ${elements} of this page.`,
  pageMetadata: "Position of the page in the list, and totals.",
});

/** Fields that are not known are refused, where elsewhere they are dropped. */
export const withoutOtherFields = (schema: JsonSchema): JsonSchema => ({ ...schema, additionalProperties: false });
