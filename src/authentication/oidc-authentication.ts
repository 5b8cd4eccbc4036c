import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import * as t from "io-ts";
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from "jose";
import { answerBounds, readBoundedText } from "../bounded-body";
import { Identifier } from "../domain/codec";
import { notAllowed, unexpected } from "../upgrades/service-error";
import {
  type Authentication,
  type AuthenticationError,
  type Credentials,
  type Role,
  roleNamed,
  roles,
  unauthorized,
} from "./authentication";
import { bearerToken } from "./tokens";

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
  const notHere = TE.left<AuthenticationError>(
    notAllowed({
      code: "TOKENS_NOT_ISSUED",
      message: "This service issues no tokens.",
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
): TE.TaskEither<AuthenticationError, Credentials> {
  // It names the caller in logs and histories.
  if (!Identifier.is(claims.sub))
    return TE.left(
      unauthorized("The subject of the token is not usable as a caller's name.", "Ask the issuer of the token."),
    );
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

function failureOf(error: unknown, { issuer, audience }: OidcOptions): AuthenticationError {
  if (error instanceof IssuerUnreachableError) return { _tag: "IssuerUnreachable", issuer, cause: error };
  const getOne = `Get a token from ${issuer} for the audience ${audience}.`;
  if (error instanceof errors.JWTExpired) return unauthorized("The token has expired.", getOne);
  if (error instanceof errors.JWTClaimValidationFailed)
    return unauthorized(`The claim ${error.claim} of the token is missing or invalid.`, getOne);
  if (error instanceof errors.JOSEError) return unauthorized("The token is not signed by the issuer.", getOne);
  return unexpected(error);
}

/** The issuer's keys cannot be had, so no token can be checked. */
class IssuerUnreachableError extends Error {
  override readonly name = "IssuerUnreachableError";
}

/** Where the keys of an issuer are. */
interface KeySource {
  readonly issuer: string;
  /** Where the issuer's metadata (OpenID Connect Discovery 1.0) is not to be asked. */
  readonly keysUrl: string | undefined;
}

const callMilliseconds = 5_000;
/** Keys that the issuer has withdrawn are good for so long. */
const keepMilliseconds = 10 * 60_000;
/** An unknown key makes the service look again, but tokens with invented keys must not make it ask without end. */
const pauseMilliseconds = 30_000;

/** Errors that say that the token names no key of the issuer; all others are about getting the keys. */
const tokenErrors = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];

/**
 * The keys of an issuer, found by its metadata, fetched when they are first needed and kept. Rejects with
 * {@link IssuerUnreachableError} where they cannot be had.
 */
function issuerKeys({ issuer, keysUrl }: KeySource): JWTVerifyGetKey {
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const find = async () => {
    const url = keysUrl ?? (await keysUrlOf(issuer));
    return createRemoteJWKSet(new URL(url), {
      timeoutDuration: callMilliseconds,
      cacheMaxAge: keepMilliseconds,
      cooldownDuration: pauseMilliseconds,
      [customFetch]: async (address, options) => {
        const answer = await fetch(address, options);
        return new Response(await boundedText(answer, address), { status: answer.status });
      },
    });
  };
  return async (header, token) => {
    // Requests that come together share one question; a failed one is asked again by the next request.
    const found = (keys ??= find());
    try {
      return await (
        await found
      )(header, token);
    } catch (error) {
      if (tokenErrors.some((type) => error instanceof type)) throw error;
      found.catch(() => {
        if (keys === found) keys = undefined;
      });
      throw new IssuerUnreachableError(`The signing keys of ${issuer} are unavailable`, { cause: error });
    }
  };
}

const boundedText = ({ body }: Response, url: string) =>
  readBoundedText(body, { whose: url, bytes: answerBounds.issuer });

const Metadata = t.type({ issuer: t.string, jwks_uri: t.string });

/** The metadata must name the issuer itself, or somebody else's keys would be taken (Discovery 1.0, 4.3). */
async function keysUrlOf(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const answer = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(callMilliseconds) });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  const metadata: unknown = JSON.parse(await boundedText(answer, url));
  if (!Metadata.is(metadata)) throw new Error(`${url} does not answer with an issuer's metadata`);
  if (metadata.issuer !== issuer)
    throw new Error(`${url} answers with the metadata of ${metadata.issuer.slice(0, 255)}`);
  return metadata.jwks_uri;
}
