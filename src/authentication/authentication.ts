import type * as TE from "fp-ts/TaskEither";
import * as t from "io-ts";
import { DescribedType, Identifier, lengthOf, model } from "../domain/codec";
import { notAllowed, type ServiceError } from "../upgrades/service-error";

/** What a caller may do, in rising order; each role may also do what those before it may. */
export const roles = ["VIEWER", "OPERATOR", "APPROVER", "ADMIN"] as const;

/**
 * - `VIEWER` reads.
 * - `OPERATOR` also starts, commits, pauses, cancels and retries.
 * - `APPROVER` also approves and rejects what others have asked for.
 * - `ADMIN` may do everything.
 */
export type Role = (typeof roles)[number];

/** The least role that a route asks for; `ANYONE` needs no credentials at all. */
export type RequiredRole = Role | "ANYONE";

/** Whether a caller may use a route that asks for `required`. A caller without a role may use none that asks for one. */
export function roleCovers(role: Role | undefined, required: RequiredRole): boolean {
  if (required === "ANYONE") return true;
  return role !== undefined && roles.indexOf(role) >= roles.indexOf(required);
}

/** The role that a text names, in exactly this spelling. */
export function roleNamed(text: unknown): Role | undefined {
  return roles.find((role) => role === text);
}

/** Who asks, once credentials are accepted. `caller` is a stable name: the same key of two callers is two keys. */
export interface Credentials {
  readonly caller: string;
  /** Undefined where the credentials are good and name no role of ours. */
  readonly role: Role | undefined;
  /** For how many milliseconds they are good from now; absent: without an end. */
  readonly milliseconds?: number;
}

/**
 * Why a caller is not let in, beside what use cases fail with.
 *
 * - `TooManyLogins`: further logins of an account or from an address are refused for a while (403).
 * - `IssuerUnreachable`: the issuer's signing keys are unavailable (424, on reads 500).
 */
export type AuthenticationError =
  | ServiceError
  | { readonly _tag: "TooManyLogins"; readonly retryAfterSeconds: number }
  | { readonly _tag: "IssuerUnreachable"; readonly issuer: string; readonly cause: unknown };

/** The values of AUTH_MODE: what the OpenAPI document says of credentials depends on it. */
export type AuthenticationMode = "dev" | "local" | "oidc";

/** Decides who a request comes from. What the caller may do is decided by the role that the route names. */
export interface Authentication {
  readonly mode: AuthenticationMode;
  /**
   * `authorization` is the value of the header as it came; undefined where there is none. Fails with `NotAllowed` where
   * the credentials are missing or bad, and with `IssuerUnreachable` where that cannot be found out.
   */
  authenticate(
    authorization: string | undefined,
    access: "READ" | "WRITE",
  ): TE.TaskEither<AuthenticationError, Credentials>;
  readonly tokens: TokenIssuer;
}

/** The failure of missing or bad credentials: 403 with the code `Unauthorized`. Neither text repeats a credential. */
export function unauthorized(message: string, remediation: string): ServiceError {
  return notAllowed({ code: "Unauthorized", message, remediation });
}

const longestToken = 4096;

/** A text that no message and no log repeats: `format: password` marks it. */
function secret(expected: string, maxLength: number): DescribedType<string> {
  const is = (u: unknown): u is string => typeof u === "string" && u.length >= 1 && lengthOf(u) <= maxLength;
  return new DescribedType<string>(
    expected,
    { type: "string", format: "password", minLength: 1, maxLength },
    is,
    (u, c) => (is(u) ? t.success(u) : t.failure(u, c)),
    t.identity,
  );
}

/** A user's name and password, for `POST /v1/tokens`. */
export const TokenCreationSpec = model(
  { username: Identifier, password: secret("a string of 1 to 1024 characters", 1024) },
  {},
);
export type TokenCreationSpec = t.TypeOf<typeof TokenCreationSpec>;

/** What `POST /v1/tokens` calls the id of a refresh token: for clients it is opaque. */
export const RefreshTokenId = secret("the id of a refresh token as a JSON string", longestToken);

export const AccessToken = secret("an access token", longestToken);

/** The refresh token of a {@link TokenPair}, by its id. */
export const RefreshToken = model({ id: RefreshTokenId }, {});

/** A short access token for the Authorization header, and the id with which new ones are had without the password. */
export const TokenPair = model({ accessToken: AccessToken, refreshToken: RefreshToken }, {});
export type TokenPair = t.TypeOf<typeof TokenPair>;

/** Gives out tokens, where the mode of authentication does so at all. */
export interface TokenIssuer {
  /** `address` is where the login comes from. */
  issue(login: TokenCreationSpec & { readonly address: string }): TE.TaskEither<AuthenticationError, TokenPair>;
  /** A new access token. */
  refresh(refreshTokenId: string): TE.TaskEither<AuthenticationError, string>;
  /** From then on the id gives no access tokens. Those that it has given end by themselves. */
  revoke(refreshTokenId: string): TE.TaskEither<AuthenticationError, void>;
}
