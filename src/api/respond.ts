import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { IncomingMessage } from "node:http";
import * as E from "fp-ts/Either";
import type { TaskEither } from "fp-ts/TaskEither";
import { ErrorBody } from "../domain/error-body";
import { unexpected } from "../upgrades/service-error";
import { json, type Shorter, type Success } from "./answer";
import type { ApiContext } from "./api-context";
import type { ApiError } from "./api-error";
import { entityTag, isHeldAlready } from "./entity-tag";
import { errorResponse } from "./error-response";

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
