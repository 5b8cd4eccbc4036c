import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { ApiMiddleware } from "../api-context";

const always = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

/** For a year, by TLS only (RFC 6797); a browser ignores it on plain HTTP. */
const byTlsOnly = { "strict-transport-security": "max-age=31536000" } as const;

/** Headers of every answer, also of those that are written without Koa, to which koa-helmet could add none. */
export function securityHeaders(socket: Socket): Readonly<Record<string, string>> {
  return socket instanceof TLSSocket ? { ...always, ...byTlsOnly } : always;
}

/** The documentation page may load its own files and nothing else; swagger-ui draws its icons from `data:` images. */
const documentationPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The console loads its own files and asks its own API, and of others at most the issuer that people sign in at. */
function consolePolicy(issuer: string | undefined): string {
  const own = documentationPolicy.replace(" data:", "");
  return issuer === undefined ? own : own.replace("connect-src 'self'", `connect-src 'self' ${new URL(issuer).origin}`);
}

/**
 * Forbids browsers to guess types, to keep answers, to frame them, or to load anything that a page does not need.
 * `issuer` is the URL of the issuer at which the console signs people in, if it does.
 */
export function addSecurityHeaders(issuer?: string): ApiMiddleware {
  const ofConsole = consolePolicy(issuer);
  return (ctx, next) => {
    ctx.set(securityHeaders(ctx.req.socket));
    if (/^\/docs(\/|$)/.test(ctx.state.path ?? "")) ctx.set("content-security-policy", documentationPolicy);
    if (/^\/(console\/.*)?$/.test(ctx.state.path ?? "")) ctx.set("content-security-policy", ofConsole);
    return next();
  };
}
