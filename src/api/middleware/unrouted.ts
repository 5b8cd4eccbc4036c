import type { ApiMiddleware } from "../api-context";
import { respondWithError } from "../respond";

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
