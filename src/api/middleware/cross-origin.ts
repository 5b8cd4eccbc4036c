import type { ApiMiddleware } from "../api-context";

/**
 * Lets pages of these origins, where Temporal's Web UI is, read the answers of the codec and no others (Fetch, CORS
 * protocol). The page sends credentials in a header of its own making, so cookies are not allowed. @koa/cors would need as
 * many lines: it knows neither the path nor the policy for embedding.
 */
export function allowCodecOrigins(origins: readonly string[]): ApiMiddleware {
  return (ctx, next) => {
    if (!ctx.state.path?.startsWith("/codec/")) return next();
    ctx.vary("Origin");
    const origin = ctx.get("Origin");
    if (origins.includes(origin)) {
      ctx.set({
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "POST",
        "access-control-allow-headers": "authorization, content-type, x-namespace",
        "access-control-max-age": "600",
        // By itself a page of another origin must not embed what is answered.
        "cross-origin-resource-policy": "cross-origin",
      });
    }
    return next();
  };
}
