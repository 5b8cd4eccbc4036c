import type { Logger } from "pino";
import type { ApiMiddleware } from "../api-context";
import type { ClientAddress } from "../client-address";
import { isRefusal } from "../error-response";

/** Methods that change nothing (RFC 9110, 9.2.1). */
const safe = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Writes one log line with `event: "audit"` for every request to a route that may change something, or that gives out
 * tokens or decrypted payloads: who asked for what, from where, and whether it was done. Refused ones are told too. The
 * line holds no header value, no query and no body.
 */
export function audit(log: Logger, addressOf: ClientAddress): ApiMiddleware {
  return async (ctx, next) => {
    ctx.state.address = addressOf(ctx.req);
    await next();
    const { action, caller, role, address, requestId, taskId, failure } = ctx.state;
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
