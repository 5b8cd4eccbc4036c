import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { ApiContext, ApiMiddleware, ApiState } from "../api-context";
import { isRefusal } from "../error-response";

const acceptableId = /^[A-Za-z0-9._-]{1,128}$/;
const longestPath = 512;

/**
 * Gives every request an id (the client's own `x-request-id` where it is harmless) and writes one log line when it has
 * been answered, of a stream when it has ended. The line holds no header value, no query and no body, so no credentials.
 */
export function requestLog(log: Logger): ApiMiddleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const given = ctx.get("x-request-id");
    ctx.state.requestId = acceptableId.test(given) ? given : randomUUID();
    ctx.state.path = pathOf(ctx);
    ctx.state.access = "OPEN";
    ctx.set("x-request-id", ctx.state.requestId);
    await next();
    const { status, method } = ctx;
    const write = () => {
      const line = {
        ...described(ctx.state),
        method,
        path: ctx.state.path?.slice(0, longestPath),
        status,
        milliseconds: Math.round(performance.now() - startedAt),
      };
      const { failure } = ctx.state;
      if (status >= 500 && !(failure && isRefusal(failure))) log.error(line, "request failed");
      else log.info(line, ctx.state.streams ? "stream ended" : "request answered");
    };
    if (!ctx.state.streams || ctx.res.destroyed) write();
    else ctx.res.once("close", write);
  };
}

function pathOf(ctx: ApiContext): string | undefined {
  try {
    // Koa says null where a URL has no path, which its type does not know.
    const path: unknown = ctx.path;
    return typeof path === "string" ? path : undefined;
  } catch {
    return undefined;
  }
}

function described({ requestId, caller, taskId, failure }: ApiState) {
  return {
    requestId,
    ...(caller !== undefined && { caller }),
    ...(taskId !== undefined && { taskId }),
    ...(failure && { errorCode: failure.body.errorCode }),
    ...(failure?.cause !== undefined && { err: failure.cause }),
  };
}
