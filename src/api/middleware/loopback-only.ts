import { quote } from "../../domain/decode-errors";
import { findForeignHeader } from "../../loopback";
import { notAllowed } from "../../upgrades/service-error";
import type { ApiMiddleware } from "../api-context";
import { respondWithError } from "../respond";

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
    respondWithError(
      ctx,
      notAllowed({
        path: foreign.header,
        code: "LOOPBACK_ONLY",
        message: `With AUTH_MODE=dev the service answers this machine only; the header ${foreign.header} is ${quote(foreign.value)}.`,
        remediation: "Use http://127.0.0.1 or http://localhost, or set AUTH_MODE to local or oidc.",
      }),
    );
    return Promise.resolve();
  };
}
