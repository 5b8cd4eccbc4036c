import * as E from "fp-ts/Either";
import { unauthorized } from "../api/authentication";
import type { ServiceError } from "../upgrades/service-error";

const scheme = "Send a token in the Authorization header: Bearer TOKEN.";

/** The token of an Authorization header (RFC 6750, 2.1). On the left why there is none. */
export function bearerToken(authorization: string | undefined): E.Either<ServiceError, string> {
  if ((authorization ?? "").trim() === "")
    return E.left(unauthorized("The request has no Authorization header, or an empty one.", scheme));
  const [, token] = /^\s*bearer +([\w.~+/-]+=*)\s*$/i.exec(authorization ?? "") ?? [];
  return token === undefined
    ? E.left(unauthorized("The Authorization header does not hold a bearer token.", scheme))
    : E.right(token);
}
