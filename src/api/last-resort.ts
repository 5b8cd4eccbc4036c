import { randomUUID } from "node:crypto";
import type Koa from "koa";
import type { Logger } from "pino";
import { unexpected } from "../upgrades/service-error";
import type { ApiState } from "./api-context";
import { errorMessage } from "./error-message";

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
