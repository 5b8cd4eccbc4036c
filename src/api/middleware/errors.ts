import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import type Koa from "koa";
import type { Logger } from "pino";
import { ErrorBody } from "../../domain/errors";
import { type ServiceError, unexpected } from "../../upgrades/service-error";
import type { ApiMiddleware, ApiState } from "../api-context";
import { errorResponse, type ErrorResponse } from "../error-response";
import { respondWithError } from "../response";
import { securityHeaders } from "./security";

/** Turns whatever is thrown further in into the specification's Error, so that Koa never answers by itself. */
export const errorBoundary: ApiMiddleware = async (ctx, next) => {
  try {
    await next();
  } catch (cause) {
    respondWithError(ctx, unexpected(cause));
  }
};

/**
 * Lets pass what a route takes and answers the rest: OPTIONS of a known path with the methods it has, another method of
 * a known path with 405, and everything else with 404.
 */
export function unrouted(methodsOf: (path: string) => readonly string[]): ApiMiddleware {
  return (ctx, next) => {
    const allowed = methodsOf(ctx.path);
    if (allowed.includes(ctx.method)) return next();
    if (allowed.length === 0) return respondWithError(ctx, { _tag: "PathNotFound", path: ctx.path });
    const offered = [...allowed, "OPTIONS"];
    if (ctx.method !== "OPTIONS") {
      return respondWithError(ctx, { _tag: "MethodNotAllowed", method: ctx.method, allowed: offered });
    }
    ctx.set("allow", offered.join(", "));
    ctx.status = 204;
  };
}

/**
 * What Koa calls when an answer fails outside of every middleware. Koa's own would answer in plain text, without a log
 * line that the client's request can be found by.
 */
export function lastResort(log: Logger) {
  return function answer(this: Koa.ParameterizedContext<Partial<ApiState>>, cause: unknown): void {
    // Koa calls it with nothing at the end of every answer that went well.
    if (cause === null || cause === undefined) return;
    if (this.headerSent || !this.writable) {
      log.debug({ err: cause }, "connection lost while answering");
      return;
    }
    const requestId = this.state.requestId ?? randomUUID();
    const { status, headers, bytes, body } = errorMessage(unexpected(cause), requestId, this.req.socket);
    for (const name of this.res.getHeaderNames()) this.res.removeHeader(name);
    this.res.writeHead(status, headers).end(bytes);
    log.error({ requestId, status, errorCode: body.errorCode, err: cause }, "request failed");
  };
}

/** An HTTP message with the specification's Error (Spec 7), for where there is no Koa context to write it to. */
export interface ErrorMessage extends Pick<ErrorResponse, "status" | "body"> {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

export function errorMessage(error: ServiceError, requestId: string, socket: Socket): ErrorMessage {
  const { status, body, headers: own } = errorResponse(error, { requestId, access: "OPEN" });
  const bytes = Buffer.from(JSON.stringify(ErrorBody.encode(body)));
  const headers = {
    ...securityHeaders(socket),
    ...own,
    "content-type": "application/json",
    "content-length": String(bytes.length),
    "x-request-id": requestId,
  };
  return { status, body, headers, bytes };
}
