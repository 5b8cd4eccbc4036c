import * as E from "fp-ts/Either";
import * as t from "io-ts";

/** Whether a context key counts the members of an intersection or a union instead of naming a field. */
function countsMembers(parent: t.ContextEntry): boolean {
  const type: unknown = parent.type instanceof t.ExactType ? (parent.type.type as unknown) : parent.type;
  return type instanceof t.IntersectionType || type instanceof t.UnionType;
}

function pathOf(context: t.Context): string {
  return context.slice(1).reduce((path, { key }, i) => {
    const parent = context[i];
    if (!parent) return key;
    if (Array.isArray(parent.actual)) return `${path}[${key}]`;
    if (countsMembers(parent)) return path;
    return path === "" ? key : `${path}.${key}`;
  }, "");
}

function expectedOf(type: t.Decoder<unknown, unknown> | undefined): string {
  const isObject = [t.ExactType, t.IntersectionType, t.InterfaceType, t.PartialType].some(
    (kind) => type instanceof kind,
  );
  return isObject ? "an object" : (type?.name ?? "another value");
}

function unknownFields(input: unknown, decoded: unknown, path: string): string[] {
  if (Array.isArray(input) && Array.isArray(decoded))
    return input.flatMap((element, i) => unknownFields(element, decoded[i], `${path}[${i}]`));
  if (typeof input !== "object" || input === null || typeof decoded !== "object" || decoded === null) return [];
  const known = new Map(Object.entries(decoded));
  return Object.entries(input).flatMap(([key, value]) => {
    const field = path === "" ? key : `${path}.${key}`;
    return known.has(key) ? unknownFields(value, known.get(key), field) : [`${field}: there is no such field`];
  });
}

/**
 * Decodes by a codec and also refuses fields that the codec does not know, because a misspelt optional field would
 * silently do nothing. Errors are one sentence each, begun by the path of the field (`clusters[0].hosts: …`).
 */
export function decodeStrictly<A>(codec: t.Decoder<unknown, A>, input: unknown): E.Either<string[], A> {
  const decoded = codec.decode(input);
  if (E.isLeft(decoded)) {
    const problems = decoded.left.map(({ context, value }) => {
      const expected = expectedOf(context[context.length - 1]?.type);
      const found = value === undefined ? "it is missing" : `not ${JSON.stringify(value)}`;
      return `${pathOf(context) || "the document"}: must be ${expected}, ${found}`;
    });
    return E.left([...new Set(problems)]);
  }
  const unknown = unknownFields(input, decoded.right, "");
  return unknown.length > 0 ? E.left(unknown) : decoded;
}
