import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { quote } from "../../domain/decode";
import { findForeignHeader } from "../../loopback";
import { notAllowed, type ServiceError } from "../../upgrades/service-error";
import type { ApiMiddleware } from "../api-context";
import { respondWithError } from "../response";

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

/** The documents run no script. */
const documentsPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The API reference may load its own files and nothing else; swagger-ui draws its icons from `data:` images. */
const referencePolicy = [
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
  const own = referencePolicy.replace(" data:", "");
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
    const path = ctx.state.path ?? "";
    if (/^\/docs(\/|$)/.test(path)) ctx.set("content-security-policy", documentsPolicy);
    if (/^\/docs\/api(\/|$)/.test(path)) ctx.set("content-security-policy", referencePolicy);
    if (/^\/(console\/.*)?$/.test(path)) ctx.set("content-security-policy", ofConsole);
    return next();
  };
}

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

/**
 * Without authentication only pages and programs of this machine are answered: a web page whose name is bound to a
 * loopback address could do anything otherwise. `codecOrigins` may also ask for the codec.
 */
export function loopbackOnly(codecOrigins: readonly string[]): ApiMiddleware {
  return (ctx, next) => {
    const { host, origin } = ctx.req.headers;
    const isCodec = ctx.state.path?.startsWith("/codec/") && codecOrigins.includes(origin ?? "");
    const foreign = findForeignHeader({ host, ...(!isCodec && { origin }) });
    if (!foreign) return next();
    respondWithError(ctx, notFromThisMachine(foreign));
    return Promise.resolve();
  };
}

/** The error of a request whose header names another machine. */
export function notFromThisMachine({
  header,
  value,
}: {
  readonly header: string;
  readonly value: string;
}): ServiceError {
  return notAllowed({
    path: header,
    code: "LOOPBACK_ONLY",
    message: `With AUTH_MODE=dev the service answers this machine only; the header ${header} is ${quote(value)}.`,
    remediation: "Use http://127.0.0.1 or http://localhost, or set AUTH_MODE to local or oidc.",
  });
}
