import type { IncomingMessage } from "node:http";
import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import { badRequest, type Problem, type ServiceError } from "../upgrades/service-error";
import { findJsonSyntaxError, isNestedDeeperThan } from "./json-syntax";

/** Bounds of what a client may send and how long that may take (docs/spec-gaps.md, limits). */
export interface BodyLimits {
  readonly bytes: number;
  /** Levels of lists and objects. */
  readonly depth: number;
  /** From the first look at the body to its last byte. */
  readonly milliseconds: number;
}

/** The JSON value of a request's body. Every failure is one problem with the body as a whole (400). */
export function readJsonBody(request: IncomingMessage, limits: BodyLimits): TE.TaskEither<ServiceError, unknown> {
  return pipe(
    readText(request, limits, ["application/json"]),
    TE.chainEitherK((text) => parseJson(text, limits.depth)),
    TE.mapLeft((problem) => badRequest(problem)),
  );
}

/** The same for a body that may be left out, whatever the headers say then; undefined where it is. */
export function readOptionalJsonBody(
  request: IncomingMessage,
  limits: BodyLimits,
): TE.TaskEither<ServiceError, unknown> {
  return pipe(
    readBytes(request, limits),
    TE.chainEitherK((bytes) =>
      bytes.length === 0
        ? E.right(undefined)
        : pipe(
            checkHeaders(request, ["application/json"]),
            E.chain(() => toText(bytes)),
            E.chain((text) => parseJson(text, limits.depth)),
          ),
    ),
    TE.mapLeft((problem) => badRequest(problem)),
  );
}

/**
 * A text as a JSON string, or as it is where it looks like a signed token: three parts with dots between (RFC 7515, 3.1).
 * PowerShell names no Content-Type where its caller names none.
 */
export function readJsonOrBareText(request: IncomingMessage, limits: BodyLimits): TE.TaskEither<ServiceError, unknown> {
  return pipe(
    readText(request, limits, ["application/json", "text/plain", ""]),
    TE.chainEitherK((text) =>
      pipe(
        parseJson(text, limits.depth),
        E.orElse((problem) =>
          /^[\w-]+(?:\.[\w-]+){2}$/.test(text.trim()) ? E.right<Problem, unknown>(text.trim()) : E.left(problem),
        ),
      ),
    ),
    TE.mapLeft((problem) => badRequest(problem)),
  );
}

function readText(
  request: IncomingMessage,
  limits: BodyLimits,
  mediaTypes: readonly string[],
): TE.TaskEither<Problem, string> {
  return pipe(
    TE.fromEither(checkHeaders(request, mediaTypes)),
    TE.chain(() => readBytes(request, limits)),
    TE.chainEitherK(toText),
  );
}

function checkHeaders(
  { headers, headersDistinct }: IncomingMessage,
  mediaTypes: readonly string[],
): E.Either<Problem, void> {
  // A published client adds the header to what its generated code has set already; a proxy can read two of one media type
  // in one way only.
  if (new Set(headersDistinct["content-type"]?.map(mediaTypeOf)).size > 1) {
    return E.left({
      path: "Content-Type",
      code: "INVALID_PARAMETER",
      message: "The header Content-Type is given more than once, with different values.",
      remediation: "Send one Content-Type header.",
    });
  }
  if (!mediaTypes.includes(mediaTypeOf(headers["content-type"]))) {
    return E.left({
      code: "UNSUPPORTED_CONTENT_TYPE",
      message: "The body must be JSON in UTF-8.",
      remediation: "Send the header Content-Type: application/json.",
    });
  }
  if ((headers["content-encoding"] ?? "identity").trim().toLowerCase() !== "identity") {
    return E.left({
      code: "UNSUPPORTED_CONTENT_ENCODING",
      message: "Compressed bodies are not accepted.",
      remediation: "Send the body without a Content-Encoding.",
    });
  }
  return E.right(undefined);
}

/** The media type of a Content-Type, "" where there is none. Its parameters say nothing: JSON is UTF-8, as its bytes show. */
function mediaTypeOf(contentType = ""): string {
  return (contentType.split(";")[0] ?? "").trim().toLowerCase();
}

function readBytes(request: IncomingMessage, limits: BodyLimits): TE.TaskEither<Problem, Buffer> {
  return TE.tryCatch(
    () => readBody(request, limits),
    (failure) => unreadableBody(failure, limits),
  );
}

function unreadableBody(failure: unknown, limits: BodyLimits): Problem {
  switch (failure) {
    case "TOO_SLOW" satisfies BodyFailure:
      return {
        code: "BODY_TIMEOUT",
        message: `The body did not arrive within ${limits.milliseconds / 1000} seconds.`,
        remediation: "Send the whole body without pauses.",
      };
    case "TOO_LARGE" satisfies BodyFailure:
      return {
        code: "BODY_TOO_LARGE",
        message: `The body is longer than ${limits.bytes} bytes.`,
        remediation: "Send fewer resources in one request.",
      };
    default:
      return {
        code: "BODY_INCOMPLETE",
        message: "The body ended before all of it had arrived.",
        remediation: "Send as many bytes as Content-Length says.",
      };
  }
}

function toText(bytes: Buffer): E.Either<Problem, string> {
  if (bytes.length === 0) {
    return E.left({
      code: "MISSING_BODY",
      message: "The request has no body.",
      remediation: "Send the body that /openapi.json describes.",
    });
  }
  return E.tryCatch(
    () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    () => ({
      code: "BODY_NOT_UTF8",
      message: "The body is not valid UTF-8.",
      remediation: "Encode the body in UTF-8.",
    }),
  );
}

function parseJson(text: string, depth: number): E.Either<Problem, unknown> {
  const value = E.tryCatch(
    (): unknown => JSON.parse(text),
    () => malformedJson(text),
  );
  if (E.isRight(value) && isNestedDeeperThan(value.right, depth)) {
    return E.left({
      code: "BODY_TOO_DEEP",
      message: `The body nests lists and objects deeper than ${depth} levels.`,
      remediation: "Send the body that /openapi.json describes.",
    });
  }
  return value;
}

function malformedJson(text: string): Problem {
  const place = findJsonSyntaxError(text);
  const where = place
    ? ` at line ${place.line}, column ${place.column} (position ${place.position}): expected ${place.expected}`
    : "";
  return {
    code: "MALFORMED_JSON",
    message: `The body is not valid JSON${where}.`,
    remediation: "Correct the syntax of the body.",
  };
}

/** Why the bytes of a body cannot be had. */
type BodyFailure = "TOO_LARGE" | "TOO_SLOW" | "INCOMPLETE";

/** Where the first bytes go; it grows with the body. */
const firstBytes = 16 * 1024;

/**
 * Reads a request's body of at most this many bytes, all of it within so many milliseconds; rejects with a
 * {@link BodyFailure} and leaves the rest unread. What it holds does not depend on the pieces that the body comes in: a
 * client that sends each byte in a chunk of its own would otherwise make hundreds of bytes of each. raw-body keeps every
 * piece (41 MiB for 400,000 bytes that come one by one) and knows no time limit.
 */
export function readBody(
  request: IncomingMessage,
  { bytes: limit, milliseconds }: { readonly bytes: number; readonly milliseconds: number },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let held = Buffer.allocUnsafe(0);
    let length = 0;
    const stop = () => {
      clearTimeout(timer);
      request.off("data", take).off("end", finish).off("error", lost).off("close", lost);
    };
    const fail = (failure: BodyFailure) => {
      stop();
      request.pause();
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- it is told apart, never thrown on
      reject(failure);
    };
    const take = (piece: Buffer) => {
      if (length + piece.length > limit) return fail("TOO_LARGE");
      if (length + piece.length > held.length) {
        const grown = Buffer.allocUnsafe(Math.min(limit, Math.max(firstBytes, 2 * held.length, length + piece.length)));
        held.copy(grown, 0, 0, length);
        held = grown;
      }
      length += piece.copy(held, length);
    };
    const finish = () => {
      stop();
      resolve(held.subarray(0, length));
    };
    const lost = () => fail("INCOMPLETE");
    const timer = setTimeout(() => fail("TOO_SLOW"), milliseconds);
    if (Number(request.headers["content-length"] ?? 0) > limit) return fail("TOO_LARGE");
    if (request.destroyed) return lost();
    request.on("data", take).on("end", finish).on("error", lost).on("close", lost);
  });
}

/** How many problems a composite error lists; the rest is only counted, so that an answer stays small and quick. */
export const mostNestedErrors = 100;

/** Bounds of one request (docs/spec-gaps.md, limits). */
export interface ApiLimits {
  readonly body: BodyLimits;
  /** How long a use case may take before the client is told that the request failed. */
  readonly answerMilliseconds: number;
}

export const defaultLimits: ApiLimits = {
  body: { bytes: 512 * 1024, depth: 64, milliseconds: 10_000 },
  answerMilliseconds: 30_000,
};
