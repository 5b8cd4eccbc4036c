import * as t from "io-ts";

/** The part of JSON Schema that describes a leaf codec to readers of the OpenAPI document. */
export interface LeafSchema {
  /** Absent only beside `oneOf`. */
  readonly type?: "string" | "integer" | "array" | "object";
  /** What a value is one of. */
  readonly oneOf?: readonly LeafSchema[];
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly items?: t.Mixed;
  readonly maxProperties?: number;
  readonly propertyNames?: LeafSchema;
  readonly additionalProperties?: LeafSchema;
}

/** A codec that can say what it accepts, to people (`expected`) and to machines (`schema`). */
export class DescribedType<A> extends t.Type<A, unknown> {
  readonly _tag = "DescribedType";
  constructor(
    readonly expected: string,
    readonly schema: LeafSchema,
    is: t.Is<A>,
    validate: t.Validate<unknown, A>,
    encode: t.Encode<A, unknown>,
    /** In what a value that is refused differs from what is expected, where that can be said; without full stop. */
    readonly whatDiffers: (value: unknown) => string | undefined = () => undefined,
  ) {
    super(expected, is, validate, encode);
  }
}

/** A text that a function accepts; the schema says the same to machines. */
export function TextThat(expected: string, schema: Omit<LeafSchema, "type">, accepts: (text: string) => boolean) {
  const is = (u: unknown): u is string => typeof u === "string" && accepts(u);
  return new DescribedType<string>(
    expected,
    { type: "string", ...schema },
    is,
    (u, c) => (is(u) ? t.success(u) : t.failure(u, c)),
    t.identity,
  );
}

/** How many characters a text has, as JSON Schema counts them: Unicode code points, not UTF-16 units. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}

/** Free text of at most 1,024 characters: the bound that the specification leaves open (docs/spec-gaps.md, limits). */
export const Text = TextThat("a string of at most 1024 characters", { maxLength: 1024 }, (s) => lengthOf(s) <= 1024);

/** An identifier: 1 to 255 characters, which is what a Temporal Workflow ID holds, without control characters. */
export const Identifier = TextThat(
  "a string of 1 to 255 characters without control characters",
  { minLength: 1, maxLength: 255, pattern: "^[^\\u0000-\\u001f\\u007f]*$" },
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  (s) => s.length >= 1 && lengthOf(s) <= 255 && !/[\u0000-\u001f\u007f]/.test(s),
);

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;

/** An id as it is compared: a UUID that it is or begins with in lower case (RFC 9562, 4), any other id as it is. */
export function canonicalId(id: string): string {
  const prefix = uuid.exec(id)?.[0] ?? "";
  return prefix.toLowerCase() + id.slice(prefix.length);
}

/** The {@link Identifier} of something that requests name; decodes to what it is compared by. */
export const ResourceId = new DescribedType<string>(
  Identifier.expected,
  Identifier.schema,
  (u): u is string => Identifier.is(u),
  (u, c) => (Identifier.is(u) ? t.success(canonicalId(u)) : t.failure(u, c)),
  t.identity,
);

/** A whole number within inclusive bounds. `unit` is part of what a caller is told. */
export function IntegerBetween(minimum: number, maximum: number, unit = "") {
  const is = (u: unknown): u is number => typeof u === "number" && Number.isInteger(u) && u >= minimum && u <= maximum;
  return new DescribedType<number>(
    `a whole number${unit && ` of ${unit}`} from ${minimum} to ${maximum}`,
    { type: "integer", minimum, maximum, ...(maximum > 2 ** 31 - 1 && { format: "int64" }) },
    is,
    (u, c) => (is(u) ? t.success(u) : t.failure(u, c)),
    t.identity,
  );
}

/** A value of one of two kinds that no value can be of at once, such as a number and a text. */
export function EitherOf<A, B>(first: DescribedType<A>, second: DescribedType<B>): DescribedType<A | B> {
  const is = (u: unknown): u is A | B => first.is(u) || second.is(u);
  return new DescribedType<A | B>(
    `${first.expected}, or ${second.expected}`,
    { oneOf: [first.schema, second.schema] },
    is,
    (u, c) => (is(u) ? t.success(u) : t.failure(u, c)),
    t.identity,
  );
}

/** A count or a time in milliseconds: a whole number from 0 that JSON holds exactly. */
export const WholeNumber = IntegerBetween(0, Number.MAX_SAFE_INTEGER);

/** A list with an inclusive number of elements; every wrong element is reported with its own index. */
export function ListOf<C extends t.Mixed>(element: C, { min = 0, max = 1000 }: { min?: number; max?: number } = {}) {
  const elements = t.array(element);
  const fits = (list: readonly unknown[]) => list.length >= min && list.length <= max;
  return new DescribedType<t.TypeOf<C>[]>(
    min > 0 ? `a list of ${min} to ${max} elements` : `a list of at most ${max} elements`,
    { type: "array", items: element, minItems: min, maxItems: max },
    (u): u is t.TypeOf<C>[] => elements.is(u) && fits(u),
    (u, c) => (Array.isArray(u) && fits(u) ? elements.validate(u, c) : t.failure(u, c)),
    (list) => elements.encode(list),
  );
}

/** An object with at most this many fields, each a text, whose names are texts too; each wrong name and value is reported. */
export function TextsByName(
  what: string,
  { name, value, most }: { name: DescribedType<string>; value: DescribedType<string>; most: number },
): DescribedType<Readonly<Record<string, string>>> {
  const isObject = (u: unknown): u is Record<string, unknown> =>
    typeof u === "object" && u !== null && !Array.isArray(u);
  const fits = (u: Record<string, unknown>) => Object.keys(u).length <= most;
  return new DescribedType<Readonly<Record<string, string>>>(
    `an object of at most ${most} ${what}`,
    { type: "object", maxProperties: most, propertyNames: name.schema, additionalProperties: value.schema },
    (u): u is Readonly<Record<string, string>> =>
      isObject(u) && fits(u) && Object.entries(u).every(([key, text]) => name.is(key) && value.is(text)),
    (u, c) => {
      if (!isObject(u) || !fits(u)) return t.failure(u, c);
      const errors: t.Errors = Object.entries(u).flatMap(([key, text]) => {
        const wrong = !name.is(key) ? ([name, key] as const) : !value.is(text) ? ([value, text] as const) : undefined;
        if (!wrong) return [];
        const [codec, actual] = wrong;
        return [{ value: actual, context: t.appendContext(c, key.slice(0, 64), codec, actual) }];
      });
      return errors.length > 0 ? t.failures(errors) : t.success(u as Record<string, string>);
    },
    t.identity,
    (u) => (isObject(u) && !fits(u) ? `it has ${Object.keys(u).length}` : undefined),
  );
}

/** One of the listed spellings, which are exactly those of the specification. */
export function OneOf<const S extends readonly string[]>(...spellings: S) {
  return t.keyof(Object.fromEntries(spellings.map((s) => [s, null])) as Record<S[number], null>);
}

/** What `t.partial` describes under `exactOptionalPropertyTypes`: a field may be absent but is never `undefined`. */
type Optional<O extends t.Props> = { [K in keyof O]?: t.TypeOf<O[K]> };

type Model<R extends t.Props, O extends t.Props> = t.Type<t.TypeOfProps<R> & Optional<O>, unknown, unknown>;

/**
 * A model of the specification: required and optional fields, exact (unknown fields are dropped, so they are
 * never stored or echoed). JSON knows no `undefined`, so an optional field is there or it is not.
 */
export function model<R extends t.Props, O extends t.Props>(required: R, optional: O): Model<R, O> {
  const fields = t.intersection([t.type(required), t.partial(optional)]);
  const exact = t.exact(fields);
  const names = Object.keys({ ...required, ...optional });
  // io-ts drops unknown fields after it has copied them, and a copied `__proto__` field becomes the prototype, whose
  // fields would then be taken unchecked. So they are dropped before.
  return new t.ExactType(
    exact.name,
    exact.is,
    (u, c) => exact.validate(t.UnknownRecord.is(u) ? ownFields(u, names) : u, c),
    exact.encode,
    fields,
  );
}

function ownFields(record: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]]));
}

/** What a codec accepts, free of how io-ts composes it: what the error reporter and the OpenAPI document look at. */
export type Shape =
  | { readonly kind: "object"; readonly required: t.Props; readonly optional: t.Props }
  | { readonly kind: "list"; readonly element: t.Mixed }
  | { readonly kind: "map"; readonly value: t.Mixed }
  | { readonly kind: "spellings"; readonly spellings: readonly string[] }
  | { readonly kind: "described"; readonly codec: DescribedType<unknown> }
  | { readonly kind: "string" | "number" | "integer" | "boolean" | "object of any fields" | "anything" };

const leaves = new Map<t.Mixed, Shape>([
  [t.string, { kind: "string" }],
  [t.number, { kind: "number" }],
  [t.Int, { kind: "integer" }],
  [t.boolean, { kind: "boolean" }],
  [t.UnknownRecord, { kind: "object of any fields" }],
  [t.unknown, { kind: "anything" }],
]);

/**
 * The shape of a codec that is built from `model`, `OneOf`, `ListOf`, described types and io-ts's plain ones.
 * Throws for any other kind, because a shape that is guessed would make the OpenAPI document untrue.
 */
export function shapeOf(codec: t.Mixed): Shape {
  const leaf = leaves.get(codec);
  if (leaf) return leaf;
  if (codec instanceof DescribedType) return { kind: "described", codec };
  if (codec instanceof t.KeyofType) return { kind: "spellings", spellings: Object.keys(codec.keys) };
  if (codec instanceof t.ArrayType) return { kind: "list", element: codec.type };
  if (codec instanceof t.DictionaryType) return { kind: "map", value: codec.codomain };
  if (codec instanceof t.InterfaceType) return { kind: "object", required: codec.props, optional: {} };
  if (codec instanceof t.PartialType) return { kind: "object", required: {}, optional: codec.props };
  if (codec instanceof t.ExactType) return shapeOf(codec.type);
  if (codec instanceof t.RecursiveType) return shapeOf(codec.type);
  if (codec instanceof t.IntersectionType) return mergedShape(codec.types as t.Mixed[]);
  throw new Error(`No shape is known for the codec ${codec.name}`);
}

function mergedShape(members: readonly t.Mixed[]): Shape {
  const merged = { kind: "object" as const, required: {} as t.Props, optional: {} as t.Props };
  for (const member of members) {
    const shape = shapeOf(member);
    if (shape.kind !== "object")
      throw new Error(`An intersection of anything but objects has no shape: ${member.name}`);
    Object.assign(merged.required, shape.required);
    Object.assign(merged.optional, shape.optional);
  }
  return merged;
}

/** Whether a codec is an intersection behind any wrapper; its members are no level of the decoded value. */
export function isIntersection(codec: t.Mixed): boolean {
  if (codec instanceof t.ExactType || codec instanceof t.RecursiveType) return isIntersection(codec.type as t.Mixed);
  return codec instanceof t.IntersectionType;
}
