import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { type ServiceError, unexpected } from "../upgrades/service-error";
import {
  type Authentication,
  type AuthenticationError,
  type TokenIssuer,
  type TokenPair,
  unauthorized,
} from "./authentication";
import { networkOf } from "./client-address";
import { bearerToken, type RevokedTokens, type SignedTokens } from "./tokens";
import { isPassword, decoyPassword, type Users } from "./users";

export interface LocalParts {
  readonly users: Users;
  readonly tokens: SignedTokens;
  readonly revoked: RevokedTokens;
  readonly limiter: LoginLimiter;
}

type Login = Parameters<TokenIssuer["issue"]>[0];

const newToken = "Get a new token with POST /v1/tokens or PATCH /v1/tokens/access-token/refresh.";

/** Tokens for the users of the users file. The role is the one that the user had when the access token was made. */
export function localAuthentication(parts: LocalParts): Authentication {
  return {
    mode: "local",
    tokens: localTokens(parts),
    authenticate: (authorization) =>
      pipe(
        TE.fromEither(bearerToken(authorization)),
        TE.chain((token) => attempted(() => parts.tokens.readAccess(token))),
        TE.chain((claims) =>
          claims
            ? TE.right({ caller: claims.username, role: claims.role, milliseconds: claims.milliseconds })
            : TE.left(unauthorized("The access token is not valid, or has expired.", newToken)),
        ),
      ),
  };
}

/**
 * Refresh tokens are signed and kept nowhere; one is good until it expires, is revoked, or its user is taken out or
 * gets another password.
 */
function localTokens({ users, tokens, revoked, limiter }: LocalParts): TokenIssuer {
  const issue = async ({ username, password, address }: Login): Promise<E.Either<AuthenticationError, TokenPair>> => {
    const permitted = await limiter.attempt(username, address);
    if (E.isLeft(permitted)) return E.left({ _tag: "TooManyLogins", retryAfterSeconds: permitted.left });
    const user = users.find(username);
    // An unknown user takes as long as a wrong password, or names could be found out by the clock.
    const right = await isPassword(password, user?.password ?? decoyPassword);
    if (!user || !right)
      return E.left(unauthorized("Unknown user, or wrong password.", "Check user name and password."));
    await limiter.succeeded(username, address);
    return E.right({
      accessToken: await tokens.signAccess(user),
      refreshToken: { id: await tokens.signRefresh(user) },
    });
  };
  const refresh = async (id: string): Promise<E.Either<ServiceError, string>> => {
    const claims = await tokens.readRefresh(id);
    const user = claims && users.find(claims.username);
    if (!user || user.passwordMark !== claims.passwordMark || (await revoked.has(claims.id))) return E.left(badRefresh);
    return E.right(await tokens.signAccess(user));
  };
  const revoke = async (id: string): Promise<E.Either<ServiceError, void>> => {
    const claims = await tokens.readRefresh(id);
    if (!claims) return E.left(badRefresh);
    return E.right(await revoked.revoke(claims.id));
  };
  return {
    issue: (login) => settled(() => issue(login)),
    refresh: (id) => settled(() => refresh(id)),
    revoke: (id) => settled(() => revoke(id)),
  };
}

const badRefresh = unauthorized(
  "The refresh token is not valid, has expired or was revoked.",
  "Get a new one with POST /v1/tokens.",
);

const settled = <A>(work: () => Promise<E.Either<AuthenticationError, A>>): TE.TaskEither<AuthenticationError, A> =>
  pipe(
    attempted(work),
    TE.chainW((outcome) => TE.fromEither(outcome)),
  );

const attempted = <A>(work: () => Promise<A>): TE.TaskEither<ServiceError, A> => TE.tryCatch(work, unexpected);

/** How many logins are let through in a time; those that succeed do not count. */
export interface LoginLimits {
  readonly perAccount: number;
  readonly perAddress: number;
  readonly seconds: number;
}

export const defaultLoginLimits: LoginLimits = { perAccount: 10, perAddress: 50, seconds: 300 };

interface LoginLimiter {
  /** Counts an attempt before it is made, so that many at once are no way around. Left: seconds until the next. */
  attempt(username: string, address: string): Promise<E.Either<number, void>>;
  /** Takes back what a login has counted that succeeded. */
  succeeded(username: string, address: string): Promise<void>;
}

/**
 * Limits guesses at passwords, of one account from anywhere and of any account from one network. Kept in memory: each
 * API process counts for itself, and a restart begins anew.
 */
export function loginLimiter({ perAccount, perAddress, seconds }: LoginLimits = defaultLoginLimits): LoginLimiter {
  const accounts = new RateLimiterMemory({ points: perAccount, duration: seconds });
  const networks = new RateLimiterMemory({ points: perAddress, duration: seconds });
  return {
    attempt: async (username, address) => {
      try {
        // First: an address that is refused can fill the memory with no more names.
        await networks.consume(networkOf(address));
        await accounts.consume(username);
        return E.right(undefined);
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        return E.left(Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)));
      }
    },
    succeeded: async (username, address) => {
      await accounts.delete(username);
      await networks.reward(networkOf(address));
    },
  };
}
