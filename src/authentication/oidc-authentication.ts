import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { errors, jwtVerify, type JWTPayload } from "jose";
import type { ApiError } from "../api/api-error";
import { unauthorized, type Authentication, type Credentials } from "../api/authentication";
import { roleNamed, roles, type Role } from "../api/role";
import { Identifier } from "../domain/codec";
import { notAllowed, unexpected } from "../upgrades/service-error";
import { bearerToken } from "./bearer-token";
import { issuerKeys, IssuerUnreachableError, type KeySource } from "./issuer-keys";

export interface OidcOptions extends KeySource {
  /** Must be among the token's audiences. */
  readonly audience: string;
  /** Name of the claim that holds a role or a list that has one; dots lead into objects. */
  readonly roleClaim: string;
  readonly now: () => Date;
}

/**
 * Signatures by a private key only. With `none` or a shared secret among them, whoever has the issuer's public keys
 * could make tokens (RFC 8725, 2.1).
 */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** How far the clocks of issuer and service may be apart. */
const clockToleranceSeconds = 30;

/** Accepts the tokens of an OpenID Connect issuer. Gives out none itself. */
export function oidcAuthentication(options: OidcOptions): Authentication {
  const keys = issuerKeys(options);
  const notHere = TE.left<ApiError>(
    notAllowed({
      code: "TOKENS_NOT_ISSUED",
      message: "This service gives out no tokens.",
      remediation: `Get a token from ${options.issuer}.`,
    }),
  );
  const claimsOf = async (token: string): Promise<JWTPayload> => {
    const { payload } = await jwtVerify(token, keys, {
      algorithms,
      issuer: options.issuer,
      audience: options.audience,
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ["exp", "sub"],
      currentDate: options.now(),
    });
    return payload;
  };
  return {
    mode: "oidc",
    tokens: { issue: () => notHere, refresh: () => notHere, revoke: () => notHere },
    authenticate: (authorization) =>
      pipe(
        TE.fromEither(bearerToken(authorization)),
        TE.chainW((token) =>
          TE.tryCatch(
            () => claimsOf(token),
            (error) => failureOf(error, options),
          ),
        ),
        TE.chainW((claims) => credentialsOf(claims, options)),
      ),
  };
}

function credentialsOf(
  claims: JWTPayload,
  { roleClaim, now }: Pick<OidcOptions, "roleClaim" | "now">,
): TE.TaskEither<ApiError, Credentials> {
  // It names the caller in logs and histories.
  if (!Identifier.is(claims.sub))
    return TE.left(unauthorized("The subject of the token cannot name a caller.", "Ask the issuer of the token."));
  const milliseconds = ((claims.exp ?? 0) + clockToleranceSeconds) * 1000 - now().getTime();
  return TE.right({ caller: claims.sub, role: highestRole(claimAt(claims, roleClaim)), milliseconds });
}

/** A claim whose own name has dots, such as a URL, goes before one that the dots lead to. */
function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return value;
}

function highestRole(claim: unknown): Role | undefined {
  const named = (Array.isArray(claim) ? claim : [claim]).map(roleNamed);
  return roles.findLast((role) => named.includes(role));
}

function failureOf(error: unknown, { issuer, audience }: OidcOptions): ApiError {
  if (error instanceof IssuerUnreachableError) return { _tag: "IssuerUnreachable", issuer, cause: error };
  const getOne = `Get a token from ${issuer} for the audience ${audience}.`;
  if (error instanceof errors.JWTExpired) return unauthorized("The token has expired.", getOne);
  if (error instanceof errors.JWTClaimValidationFailed)
    return unauthorized(`The claim ${error.claim} of the token is missing or not what it must be.`, getOne);
  if (error instanceof errors.JOSEError)
    return unauthorized("The token is not one that the issuer has signed.", getOne);
  return unexpected(error);
}
