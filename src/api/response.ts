import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import * as E from "fp-ts/Either";
import type { TaskEither } from "fp-ts/TaskEither";
import type * as t from "io-ts";
import { ErrorBody } from "../domain/errors";
import type { UpgradeReasons } from "../domain/spec/maintenance-override";
import type { RequestWarning } from "../domain/spec/request-warning";
import { unexpected } from "../upgrades/service-error";
import type { ApiContext, ApiState } from "./api-context";
import type { ApiError } from "./api-error";
import { errorResponse } from "./error-response";

/** How a value becomes the bytes of an answer. `codec` describes JSON to readers of the OpenAPI document. */
export interface Representation<A> {
  /** Undefined of an answer without content. */
  readonly contentType: string | undefined;
  readonly codec?: t.Mixed;
  /** Left where the value is not what the codec declares: such an answer must not leave. */
  toBytes(value: A): E.Either<Error, Buffer>;
  /** The same bytes as they are shorter, best first, for clients that say that they take them. */
  readonly shorter?: (value: A) => readonly Shorter[];
}

/** Bytes in a content coding (RFC 9110, 8.4.1). */
export interface Shorter {
  readonly encoding: "br" | "gzip";
  readonly bytes: Buffer;
}

/** How a value becomes an answer that goes on for as long as there is something to tell. */
export interface StreamRepresentation<A> {
  readonly contentType: string;
  readonly codec?: undefined;
  /** The stream lets go of the value when it is destroyed. */
  toStream(value: A, state: ApiState): Readable;
}

/**
 * JSON by a codec: unknown fields are dropped, and a value that the codec does not recognise is refused. A value that
 * many requests share (readers of one list at the same time) is made into bytes once, so it must not change.
 */
export function json<A extends object>(codec: t.Type<A, unknown, unknown>): Representation<A> {
  const encodedValues = new WeakMap<A, Buffer>();
  return {
    contentType: "application/json",
    codec,
    toBytes: (value) => {
      const before = encodedValues.get(value);
      if (before) return E.right(before);
      if (!codec.is(value)) return E.left(new Error(`An answer is not a valid ${codec.name}`));
      const bytes = Buffer.from(JSON.stringify(codec.encode(value)));
      encodedValues.set(value, bytes);
      return E.right(bytes);
    },
  };
}

/** One text as a JSON string. */
export function jsonText(codec: t.Type<string, unknown, unknown>): Representation<string> {
  return {
    contentType: "application/json",
    codec,
    toBytes: (value) =>
      codec.is(value)
        ? E.right(Buffer.from(JSON.stringify(value)))
        : E.left(new Error(`An answer is not ${codec.name}`)),
  };
}

/** No content (204). */
export const nothing: Representation<void> = { contentType: undefined, toBytes: () => E.right(Buffer.alloc(0)) };

/** Bytes as they are: the files of a page. */
export function bytes(contentType: string): Representation<Buffer> {
  return { contentType, toBytes: E.right };
}

/** The answer of a route to a request that succeeds. */
export interface Success<A> {
  readonly status: number;
  readonly description: string;
  readonly representation: Representation<A> | StreamRepresentation<A>;
  /** Further headers by name. */
  readonly headers?: Readonly<Record<string, AnswerHeader<A>>>;
  /** With an entity tag: a client that says that it has the same answer already gets 304 and no content. */
  readonly isConditional?: true;
  /** The Task that the answer is about, for the log. */
  readonly taskId?: (value: A) => string;
  /** Why that is done, for the audit trail. */
  readonly reasons?: (value: A) => UpgradeReasons;
}

interface AnswerHeader<A> {
  readonly description: string;
  /** Undefined where the answer has none. */
  readonly of: (value: A) => string | undefined;
}

/** How long a client that still sends after its answer is listened to, in milliseconds, before the connection closes. */
const lingerMilliseconds = 2000;

const errorRepresentation = json(ErrorBody);

/**
 * Runs a route and writes its answer: the only place where an answer to a well-formed request is written. A value
 * that its codec does not recognise is an internal error, so nothing leaves that the OpenAPI document does not have.
 */
export async function respond<A>(ctx: ApiContext, success: Success<A>, run: TaskEither<ApiError, A>): Promise<void> {
  const outcome = await run();
  if (E.isLeft(outcome)) return respondWithError(ctx, outcome.left);
  const value = outcome.right;
  const { status, representation } = success;
  const headers: Record<string, string> = {};
  for (const [name, header] of Object.entries(success.headers ?? {})) {
    const text = header.of(value);
    if (text !== undefined) headers[name] = text;
  }
  if ("toStream" in representation) {
    writeStream(ctx, status, headers, representation.contentType, representation.toStream(value, ctx.state));
  } else {
    const encoded = representation.toBytes(value);
    if (E.isLeft(encoded)) return respondWithError(ctx, unexpected(encoded.left));
    const bytes = encoded.right;
    if (success.isConditional) {
      headers["etag"] = entityTag(bytes);
      if (isHeldAlready(ctx.get("if-none-match"), headers["etag"])) return writeNotModified(ctx, headers);
    }
    const shorter = representation.shorter?.(value) ?? [];
    if (shorter.length > 0) headers["vary"] = "accept-encoding";
    const chosen = shorter.find(({ encoding }) => encoding === bestEncoding(ctx, shorter));
    if (chosen) headers["content-encoding"] = chosen.encoding;
    write(ctx, status, headers, representation.contentType, chosen?.bytes ?? bytes);
  }
  if (success.taskId) ctx.state.taskId = success.taskId(value);
  if (success.reasons) ctx.state.reasons = success.reasons(value);
}

/** Writes the specification's Error (Spec 7) with the status that the error table gives it. */
export function respondWithError(ctx: ApiContext, error: ApiError): void {
  const failure = errorResponse(error, ctx.state);
  const encoded = errorRepresentation.toBytes(failure.body);
  if (E.isLeft(encoded)) throw encoded.left;
  ctx.state.failure = failure;
  write(ctx, failure.status, failure.headers, errorRepresentation.contentType, encoded.right);
}

function bestEncoding(ctx: ApiContext, shorter: readonly Shorter[]): string | false {
  return ctx.acceptsEncodings([...shorter.map(({ encoding }) => encoding), "identity"]);
}

function writeNotModified(ctx: ApiContext, headers: Readonly<Record<string, string>>): void {
  ctx.set(headers);
  ctx.status = 304;
}

function write(
  ctx: ApiContext,
  status: number,
  headers: Readonly<Record<string, string>>,
  contentType: string | undefined,
  body: Buffer,
): void {
  ctx.status = status;
  if (contentType === undefined) {
    ctx.set(headers);
    ctx.body = null;
    return;
  }
  ctx.set({ ...headers, "content-type": contentType });
  if (isStillSending(ctx.req)) {
    ctx.set("connection", "close");
    ctx.body = Readable.from(bodyThenRest(body, ctx.req), { objectMode: false });
  } else {
    ctx.body = body;
  }
  ctx.length = body.length;
}

/** The end of the stream is that of the connection, so that none is kept open for another request after hours. */
function writeStream(
  ctx: ApiContext,
  status: number,
  headers: Readonly<Record<string, string>>,
  contentType: string,
  stream: Readable,
): void {
  ctx.status = status;
  ctx.set({ ...headers, "content-type": contentType, connection: "close" });
  ctx.state.streams = true;
  // Koa destroys it when the answer has ended, in whatever way.
  ctx.body = stream;
  // A body that nobody reads would hold the connection up.
  ctx.req.resume();
  // Half a connection is enough for one answer, but whoever closes it under a stream has gone.
  const { socket } = ctx.req;
  if (socket.readableEnded) stream.destroy();
  else socket.once("end", () => stream.destroy());
}

function isStillSending(request: IncomingMessage): boolean {
  const hasBody = request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"]) > 0;
  return hasBody && !request.complete;
}

/**
 * The answer, then the rest of the request into nothing. Closing a connection with unread bytes resets it, and the
 * client could then lose the answer; the answer has a content length, so that the client need not wait for the end.
 */
async function* bodyThenRest(body: Buffer, request: IncomingMessage): AsyncGenerator<Buffer> {
  yield body;
  request.resume();
  // Either the client stops, or it is cut off: both are an orderly end here.
  await finished(request, { writable: false, signal: AbortSignal.timeout(lingerMilliseconds) }).catch(() => undefined);
}

const entityTags = new WeakMap<Buffer, string>();

/**
 * The entity tag of an answer's bytes (RFC 9110, 8.8.3): the same for the same bytes, in every API process. Weak,
 * because it is that of all encodings of them.
 */
function entityTag(bytes: Buffer): string {
  const before = entityTags.get(bytes);
  if (before !== undefined) return before;
  const tag = `W/"${createHash("sha256").update(bytes).digest("base64url")}"`;
  entityTags.set(bytes, tag);
  return tag;
}

/** Whether a client says by its `If-None-Match` that it has the answer with this tag (RFC 9110, 13.1.2). */
function isHeldAlready(ifNoneMatch: string, tag: string): boolean {
  const opaque = (text: string) => text.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((held) => held.trim() === "*" || opaque(held) === opaque(tag));
}

/** The longest header; proxies refuse long ones, and the body tells every warning. */
const mostBytes = 4096;

/**
 * The header `Warning` (RFC 7234, 5.5): one `299 - "text"` for each warning of an answer, in ASCII, as many as fit. Absent
 * where there are none.
 */
export const warningHeader = {
  description: 'What of the request is ignored, or held, each as `299 - "text"`; also in `warnings` of the body.',
  of: ({ warnings = [] }: { readonly warnings?: readonly RequestWarning[] }): string | undefined => {
    const values = warnings.map(({ message }) => `299 - "${quotable(message)}"`);
    while (values.join(", ").length > mostBytes) values.pop();
    return values.length === 0 ? undefined : values.join(", ");
  },
};

function quotable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").replace(/["\\]/g, "\\$&");
}
