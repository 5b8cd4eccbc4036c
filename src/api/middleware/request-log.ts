import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import type { ClientAddress } from "../../authentication/client-address";
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

/** Methods that change nothing (RFC 9110, 9.2.1). */
const safe = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Writes one log line with `event: "audit"` for every request to a route that may change something, or that gives out
 * tokens or decrypted payloads: who asked for what, from where, and whether it was done. Refused ones are told too. The
 * line holds no header value, no query and of the body only the change record and the override of an upgrade.
 */
export function audit(log: Logger, addressOf: ClientAddress): ApiMiddleware {
  return async (ctx, next) => {
    ctx.state.address = addressOf(ctx.req);
    await next();
    const { action, caller, role, address, requestId, taskId, reasons, failure } = ctx.state;
    if (action === undefined || safe.has(ctx.method)) return;
    const params: unknown = ctx.params;
    const named = typeof params === "object" && params !== null && "id" in params ? String(params.id) : undefined;
    const upgradeId = taskId ?? named?.slice(0, 255);
    log.info(
      {
        event: "audit",
        action,
        outcome: failure ? (isRefusal(failure) ? "REFUSED" : "FAILED") : "DONE",
        ...(caller !== undefined && { caller }),
        ...(role !== undefined && { callerRole: role }),
        // The name by which every other line about an upgrade is found.
        ...(upgradeId !== undefined && { upgradeId, taskId: upgradeId }),
        ...reasons,
        method: ctx.method,
        address,
        requestId,
        status: ctx.status,
        ...(failure && { errorCode: failure.body.errorCode }),
      },
      `audit: ${action}`,
    );
  };
}
