import * as E from "fp-ts/Either";
import { type Authentication, type RequiredRole, type Role, roleCovers } from "../../authentication/authentication";
import { badRequest, notAllowed, type ServiceError } from "../../upgrades/service-error";
import type { ApiMiddleware } from "../api-context";
import type { Access } from "../api-error";
import { respondWithError } from "../response";

/** What a route says of who may use it. */
interface Guarded {
  readonly access: Access;
  readonly role: RequiredRole;
  readonly operationId: string;
}

/** Lets a request pass to a route if its credentials are accepted and their role covers the one that the route names. */
export function authenticate(authentication: Authentication, { access, role, operationId }: Guarded): ApiMiddleware {
  return async (ctx, next) => {
    ctx.state.access = access;
    ctx.state.action = operationId;
    if (role === "ANYONE" || access === "OPEN") return next();
    const values = ctx.req.headersDistinct["authorization"] ?? [];
    if (values.length > 1) return respondWithError(ctx, ambiguousCredentials);
    const outcome = await authentication.authenticate(values[0], access)();
    if (E.isLeft(outcome)) return respondWithError(ctx, outcome.left);
    // Also before a refusal, so that the log says who was refused.
    ctx.state.caller = outcome.right.caller;
    if (outcome.right.role !== undefined) ctx.state.role = outcome.right.role;
    if (outcome.right.milliseconds !== undefined) ctx.state.credentialMilliseconds = outcome.right.milliseconds;
    if (!roleCovers(outcome.right.role, role)) return respondWithError(ctx, roleRequired(role, outcome.right.role));
    return next();
  };
}

const ambiguousCredentials = badRequest({
  path: "Authorization",
  code: "INVALID_PARAMETER",
  message: "The header Authorization is given more than once.",
  remediation: "Send one Authorization header.",
});

/** Why something is refused to these credentials. */
export function roleRequired(required: Role, role: Role | undefined, what = "This"): ServiceError {
  return notAllowed({
    code: "ROLE_REQUIRED",
    message: `${what} needs the role ${required}; your credentials have ${role === undefined ? "no role here" : `the role ${role}`}.`,
    remediation: `Ask the operator of the service for the role ${required}.`,
  });
}
