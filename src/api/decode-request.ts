import type { IncomingMessage } from "node:http";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { identity, pipe } from "fp-ts/function";
import type * as t from "io-ts";
import { DescribedType } from "../domain/codec";
import { describeValue, expectedBy, problemsOf, withoutNulls } from "../domain/decode";
import type { RequestWarning } from "../domain/spec/request-warning";
import {
  isOtherCaseOf,
  type CheckedFields,
  refuseUnknownFields,
  tolerateUnknownFields,
  unknownFields,
} from "../domain/unknown-fields";
import { badRequest, type Problem, type ServiceError } from "../upgrades/service-error";
import type { ParametersByName } from "./parameters";
import {
  type BodyLimits,
  mostNestedErrors,
  readJsonBody,
  readJsonOrBareText,
  readOptionalJsonBody,
} from "./request-body";

/** Parameters that may be absent, as `exactOptionalPropertyTypes` wants them: absent or a value, never undefined. */
export type OptionalParameters<P extends ParametersByName> = { readonly [K in keyof P]?: t.TypeOf<P[K]["codec"]> };

type PathParameters<P extends ParametersByName> = { readonly [K in keyof P]: t.TypeOf<P[K]["codec"]> };

/** The codecs of the parts of a request. Path parameters are always there, query and header parameters may be absent. */
export interface RequestCodecs<P extends ParametersByName, Q extends ParametersByName, H extends ParametersByName, B> {
  readonly path: P;
  readonly query: Q;
  /** By header name in its usual spelling. */
  readonly headers: H;
  /** Absent for a route without a body. */
  readonly body?: t.Type<B, unknown, unknown>;
  /** Whether the body, a JSON string, may also come without its quotation marks, as some clients send it. */
  readonly bareTextBody?: true;
  /** A body that is left out is an object without fields then. */
  readonly bodyMayBeAbsent?: true;
  /** What counts of a body, before anything else is asked of it. */
  readonly partThatCounts?: (body: unknown) => unknown;
  /**
   * Whether every field that the codec does not know is an error, or only one that must not be ignored while the others are
   * warnings. Without it such fields are dropped.
   */
  readonly unknownFields?: keyof typeof classifications;
}

export interface DecodedRequest<P extends ParametersByName, Q extends ParametersByName, H extends ParametersByName, B> {
  readonly path: PathParameters<P>;
  readonly query: OptionalParameters<Q>;
  readonly headers: OptionalParameters<H>;
  readonly body: B;
  /** What of the body was ignored. */
  readonly warnings: readonly RequestWarning[];
}

const classifications = { REFUSED: refuseUnknownFields, WARNED: tolerateUnknownFields } as const;

/** A request as it came, with the path parameters that the router found, percent-decoded. */
export interface RawRequest {
  readonly message: IncomingMessage;
  readonly path: Readonly<Record<string, string>>;
  readonly search: URLSearchParams;
}

/**
 * Decodes the parts of a request: path, then query and headers, then the body, which is read only if all before it
 * is right. All wrong fields of a part are reported. A path that does not decode names nothing, so it is `unknownPath`.
 */
export function decodeRequest<P extends ParametersByName, Q extends ParametersByName, H extends ParametersByName, B>(
  codecs: RequestCodecs<P, Q, H, B>,
  raw: RawRequest,
  unknownPath: (path: RawRequest["path"]) => ServiceError,
  limits: BodyLimits,
): TE.TaskEither<ServiceError, DecodedRequest<P, Q, H, B>> {
  const path = decodeParameters("path parameter", codecs.path, (name) => [raw.path[name]].filter(isPresent));
  if (E.isLeft(path)) return TE.left(unknownPath(raw.path));
  const query = decodeQuery(codecs.query, raw.search);
  const headers = decodeParameters(
    "header",
    codecs.headers,
    (name) => raw.message.headersDistinct[name.toLowerCase()] ?? [],
  );
  const problems = [query, headers].flatMap((part) => (E.isLeft(part) ? part.left : []));
  if (E.isLeft(query) || E.isLeft(headers)) return TE.left(badRequest(problems));
  return pipe(
    decodeBody(codecs, raw.message, limits),
    TE.map(({ body, warnings }) => ({
      path: path.right as PathParameters<P>,
      query: query.right,
      headers: headers.right,
      body,
      warnings,
    })),
  );
}

interface DecodedBody<B> {
  readonly body: B;
  readonly warnings: readonly RequestWarning[];
}

function decodeBody<B>(
  codecs: Pick<
    RequestCodecs<ParametersByName, ParametersByName, ParametersByName, B>,
    "body" | "bareTextBody" | "bodyMayBeAbsent" | "partThatCounts" | "unknownFields"
  >,
  message: IncomingMessage,
  limits: BodyLimits,
): TE.TaskEither<ServiceError, DecodedBody<B>> {
  const { body: codec, bareTextBody, bodyMayBeAbsent, partThatCounts = identity } = codecs;
  // A route without a body codec has B = undefined, which its handler cannot tell from a decoded body.
  if (!codec) return TE.right({ body: undefined as B, warnings: [] });
  const read = bodyMayBeAbsent
    ? pipe(
        readOptionalJsonBody(message, limits),
        TE.map((value) => (value === undefined ? {} : value)),
      )
    : (bareTextBody ? readJsonOrBareText : readJsonBody)(message, limits);
  return pipe(
    read,
    TE.map((value) => withoutNulls(codec, partThatCounts(value))),
    TE.chainEitherK((value) => decodeValue(codec, value, codecs.unknownFields)),
  );
}

/** Wrong fields and fields that must not be there are told together. */
function decodeValue<B>(
  codec: t.Type<B, unknown, unknown>,
  value: unknown,
  unknown: keyof typeof classifications | undefined,
): E.Either<ServiceError, DecodedBody<B>> {
  const judged: CheckedFields =
    unknown === undefined
      ? { problems: [], warnings: [] }
      : classifications[unknown](codec, unknownFields(codec, value));
  const { problems: refused, warnings } = judged;
  const decoded = codec.decode(value);
  if (E.isRight(decoded) && refused.length === 0) return E.right({ body: decoded.right, warnings });
  const wrong = E.isLeft(decoded) ? problemsOf(decoded.left, "The body", mostNestedErrors) : undefined;
  const problems = [...(wrong?.problems ?? []), ...refused];
  const listed = problems.slice(0, mostNestedErrors);
  return E.left(badRequest(listed, problems.length - listed.length + (wrong?.unlisted ?? 0)));
}

/** Empty parameters are absent ones. One whose name is a known one but for case or separators would change nothing, unsaid. */
function decodeQuery<P extends ParametersByName>(
  codecs: P,
  search: URLSearchParams,
): E.Either<Problem[], OptionalParameters<P>> {
  const known = Object.keys(codecs);
  const misspelt = [...new Set(search.keys())].flatMap((name) => {
    const meant = known.includes(name) ? undefined : known.find((one) => isOtherCaseOf(name, one));
    return meant === undefined ? [] : [parameterProblem("query parameter", name, `is written ${meant}`)];
  });
  const decoded = decodeParameters("query parameter", codecs, (name) =>
    search.getAll(name).filter((one) => one !== ""),
  );
  if (misspelt.length === 0) return decoded;
  return E.left([...(E.isLeft(decoded) ? decoded.left : []), ...misspelt]);
}

function decodeParameters<P extends ParametersByName>(
  kind: "path parameter" | "query parameter" | "header",
  codecs: P,
  valuesOf: (name: string) => readonly string[],
): E.Either<Problem[], OptionalParameters<P>> {
  const decoded: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const [name, { codec }] of Object.entries(codecs)) {
    const values = valuesOf(name);
    const [value, ...more] = values;
    if (value === undefined) continue;
    const ofElements = elementCodec(codec);
    if (ofElements) {
      const elements = values.flatMap((one) => one.split(",")).filter((one) => one !== "");
      const wrong = elements.find((one) => E.isLeft(ofElements.decode(one)));
      if (wrong !== undefined) problems.push(parameterProblem(kind, name, wrongValue(ofElements, wrong)));
      else if (elements.length > 0) decoded[name] = [...new Set(elements)];
      continue;
    }
    const result = more.length === 0 ? (codec as t.Type<unknown, unknown, unknown>).decode(value) : undefined;
    if (result && E.isRight(result)) decoded[name] = result.right;
    else problems.push(parameterProblem(kind, name, result ? wrongValue(codec, value) : "is given more than once"));
  }
  return problems.length > 0 ? E.left(problems) : E.right(decoded);
}

/** Of a parameter with several values, the codec of each. */
function elementCodec(codec: t.Mixed): t.Mixed | undefined {
  return codec instanceof DescribedType ? codec.schema.items : undefined;
}

function wrongValue(codec: t.Mixed, value: string): string {
  return `must be ${expectedBy(codec)}, but is ${describeValue(value)}`;
}

function parameterProblem(kind: string, name: string, whatIsWrong: string): Problem {
  return {
    path: name.slice(0, 255),
    code: "INVALID_PARAMETER",
    message: `The ${kind} ${name.slice(0, 255)} ${whatIsWrong}.`,
    remediation: `Correct or remove the ${kind}.`,
  };
}

function isPresent(value: string | undefined): value is string {
  return value !== undefined;
}
