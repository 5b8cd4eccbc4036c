import type * as TE from "fp-ts/TaskEither";
import * as t from "io-ts";
import { DescribedType, Identifier, lengthOf, model } from "../domain/codec";
import type { ApiError } from "./api-error";

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

const RefreshToken = model({ id: RefreshTokenId }, {});

/** A short access token for the Authorization header, and the id with which new ones are had without the password. */
export const TokenPair = model({ accessToken: AccessToken, refreshToken: RefreshToken }, {});
export type TokenPair = t.TypeOf<typeof TokenPair>;

/** Gives out tokens, where the mode of authentication does so at all. */
export interface TokenIssuer {
  /** `address` is where the login comes from. */
  issue(login: TokenCreationSpec & { readonly address: string }): TE.TaskEither<ApiError, TokenPair>;
  /** A new access token. */
  refresh(refreshTokenId: string): TE.TaskEither<ApiError, string>;
  /** From then on the id gives no access tokens. Those that it has given end by themselves. */
  revoke(refreshTokenId: string): TE.TaskEither<ApiError, void>;
}
