import * as E from "fp-ts/Either";
import * as J from "fp-ts/Json";
import type * as t from "io-ts";
import { isIntersection, shapeOf } from "./codec";

/** The longest piece of a client's own text that a message repeats, in UTF-16 units. */
const longestQuote = 64;

/** A field that does not decode. Without `path` it is the value itself. */
export interface FieldProblem {
  readonly path?: string;
  /** A code of docs/error-codes.md. */
  readonly code: string;
  readonly message: string;
  readonly remediation: string;
}

/** The first problems of a decoded value, and how many more it has. */
export interface DecodeProblems {
  readonly problems: readonly FieldProblem[];
  readonly unlisted: number;
}

/**
 * What is wrong with a decoded value, in terms of the caller's own fields: one problem per path, in the order of
 * the codec's fields, at most this many. `whole` names the value itself, for problems that no field has
 * ("The body").
 */
export function problemsOf(errors: t.Errors, whole: string, most: number): DecodeProblems {
  const problems = new Map<string, FieldProblem>();
  let read = 0;
  for (const { context, value } of errors) {
    if (problems.size === most) break;
    read += 1;
    const path = pathOf(context);
    const codec = context.at(-1)?.type;
    if (!codec || problems.has(path)) continue;
    problems.set(path, fieldProblem(path, whole, codec as t.Mixed, value));
  }
  return { problems: [...problems.values()], unlisted: errors.length - read };
}

function fieldProblem(path: string, whole: string, codec: t.Mixed, value: unknown): FieldProblem {
  const where = path === "" ? {} : { path };
  const name = path === "" ? whole : path;
  if (value === undefined) {
    return {
      ...where,
      code: "MISSING_FIELD",
      message: `${name} is required: ${expectedBy(codec)}.`,
      remediation: "Add the field.",
    };
  }
  return {
    ...where,
    code: "INVALID_FIELD",
    message: `${name}: expected ${expectedBy(codec)}, got ${isSecret(codec) ? "another value" : describeValue(value)}${differing(codec, value)}.`,
    remediation: "Correct the field; /openapi.json describes every field.",
  };
}

function differing(codec: t.Mixed, value: unknown): string {
  const shape = shapeOf(codec);
  const differs = shape.kind === "described" ? shape.codec.whatDiffers(value) : undefined;
  return differs === undefined ? "" : `: ${differs}`;
}

/** A password or token that is wrong must not be found in the logs of whoever sent it. */
function isSecret(codec: t.Mixed): boolean {
  const shape = shapeOf(codec);
  return shape.kind === "described" && shape.codec.schema.format === "password";
}

/** Path of a decode error, such as `resourceUpgradeSpecs[0].resourceId`; empty for the value as a whole. */
function pathOf(context: t.Context): string {
  let path = "";
  for (const [index, entry] of context.entries()) {
    const parent = context[index - 1];
    if (!parent || isIntersection(parent.type as t.Mixed)) continue;
    if (Array.isArray(parent.actual)) path += `[${entry.key}]`;
    else path += path === "" ? entry.key : `.${entry.key}`;
  }
  return path;
}

/** What a codec expects, in words for people; enumerations list all their spellings. */
export function expectedBy(codec: t.Mixed): string {
  const shape = shapeOf(codec);
  switch (shape.kind) {
    case "described":
      return shape.codec.expected;
    case "spellings":
      return `one of ${shape.spellings.join(", ")}`;
    case "boolean":
      return "true or false";
    case "integer":
      return "a whole number";
    case "string":
    case "number":
      return `a ${shape.kind}`;
    case "list":
      return "a list";
    case "object":
    case "map":
    case "object of any fields":
      return "an object";
    case "anything":
      return "any value";
  }
}

/** What a client sent: its kind, and the value itself where that is short. Never longer than about 100 characters. */
export function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `a list of ${value.length} ${value.length === 1 ? "element" : "elements"}`;
  if (typeof value === "string") return describeText(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return "an object";
}

function describeText(text: string): string {
  if (text.length <= longestQuote) return quote(text);
  return `a string of ${text.length} characters that begins with ${quote(text.slice(0, longestQuote))}`;
}

/** A client's text as a JSON string, cut where it is long, so that it neither breaks nor floods a message or log line. */
export function quote(text: string): string {
  return text.length <= longestQuote ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, longestQuote))}…`;
}

/** The value that a JSON text holds, by a codec. Left where it is no JSON, or holds something else. */
export function decodeJson<A>(codec: t.Decoder<unknown, A>, text: string): E.Either<unknown, A> {
  const json = J.parse(text);
  return E.isRight(json) ? codec.decode(json.right) : json;
}

/**
 * A value without the optional fields that are null, at every depth: many clients write null for what they leave out. A
 * required field that is null stays, and so do fields that the codec does not know.
 */
export function withoutNulls(codec: t.Mixed, value: unknown): unknown {
  const shape = shapeOf(codec);
  const element =
    shape.kind === "list" ? shape.element : shape.kind === "described" ? shape.codec.schema.items : undefined;
  if (element) return Array.isArray(value) ? value.map((inner) => withoutNulls(element, inner)) : value;
  if (shape.kind !== "object" || typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { required, optional } = shape;
  const fieldOf = (name: string) =>
    Object.hasOwn(required, name) ? required[name] : Object.hasOwn(optional, name) ? optional[name] : undefined;
  const kept = Object.entries(value).filter(([name, inner]) => inner !== null || !Object.hasOwn(optional, name));
  return Object.fromEntries(
    kept.map(([name, inner]: [string, unknown]) => {
      const field = fieldOf(name);
      return [name, field ? withoutNulls(field, inner) : inner];
    }),
  );
}
