import * as E from "fp-ts/Either";
import { badRequest } from "../../upgrades/service-error";
import type { Access } from "../api-error";
import type { ApiMiddleware } from "../api-context";
import type { Authentication } from "../authentication";
import { respondWithError } from "../respond";

/** Lets a request pass to a route if its credentials allow what the route does. */
export function authenticate(authentication: Authentication, access: Access): ApiMiddleware {
  return async (ctx, next) => {
    ctx.state.access = access;
    if (access === "OPEN") return next();
    const values = ctx.req.headersDistinct["authorization"] ?? [];
    if (values.length > 1) return respondWithError(ctx, ambiguousCredentials);
    const outcome = await authentication.authenticate(values[0], access)();
    if (E.isLeft(outcome)) return respondWithError(ctx, outcome.left);
    ctx.state.caller = outcome.right.caller;
    return next();
  };
}

const ambiguousCredentials = badRequest({
  path: "Authorization",
  code: "INVALID_PARAMETER",
  message: "The header Authorization is given more than once.",
  remediation: "Send one Authorization header.",
});
