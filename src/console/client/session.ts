import { computed, signal } from "@preact/signals";
import * as t from "io-ts";
import { decodeJwt } from "jose";
import { model } from "../../domain/codec";
import type { ConsoleConfig, ConsoleSession } from "../../domain/console-config";
import type { ErrorBody } from "../../domain/errors";

/**
 * The credentials of one sign-in. `refreshToken` renews them: of the service itself its id, of an issuer the token;
 * without it they end when they end. `obtainedAt` and `renewAt` are in epoch milliseconds of the browser.
 */
export const SessionTokens = model(
  { accessToken: t.string, obtainedAt: t.number },
  { refreshToken: t.string, renewAt: t.number },
);
export type SessionTokens = t.TypeOf<typeof SessionTokens>;

const storageKey = "upgrade-console-session";
/** How long before its end an access token is renewed, in milliseconds. */
const renewBefore = 60_000;

/** What the API has said of this installation; undefined until it has. */
export const installation = signal<ConsoleConfig | undefined>(undefined);

/** What the API has said of who is signed in; undefined until it has. */
export const session = signal<ConsoleSession | undefined>(undefined);

/** Why nobody is signed in any more, where that was not by their own wish. */
export const endOfSession = signal<ErrorBody | undefined>(undefined);

/** Of who is signed in. Kept by open tabs only, and gone with the last of them. */
export const tokens = signal<SessionTokens | undefined>(storedTokens());

/** Whether somebody has to sign in before anything can be shown. */
export const needsSignIn = computed(
  () =>
    installation.value !== undefined && installation.value.authenticationMode !== "dev" && tokens.value === undefined,
);

/** The Authorization header of a request; AUTH_MODE=dev takes any. */
export function authorization(): Record<string, string> {
  if (tokens.value) return { authorization: `Bearer ${tokens.value.accessToken}` };
  return installation.value?.authenticationMode === "dev" ? { authorization: "Bearer console" } : {};
}

/** Tokens that were had just now. `lifetimeSeconds` is told by the issuer, or else by the access token itself. */
export function freshTokens(accessToken: string, refreshToken?: string, lifetimeSeconds?: number): SessionTokens {
  const lifetime = lifetimeSeconds ?? lifetimeOf(accessToken);
  return {
    accessToken,
    obtainedAt: Date.now(),
    ...(refreshToken !== undefined && { refreshToken }),
    ...(lifetime !== undefined && {
      renewAt: Date.now() + Math.max((lifetime * 1000) / 2, lifetime * 1000 - renewBefore),
    }),
  };
}

/** Begins, renews or (with undefined) ends the session. `because`: it ends without being asked to. */
export function setTokens(next: SessionTokens | undefined, because?: ErrorBody): void {
  if (next) sessionStorage.setItem(storageKey, JSON.stringify(next));
  else sessionStorage.removeItem(storageKey);
  if (!next) session.value = undefined;
  endOfSession.value = next ? undefined : because;
  tokens.value = next;
}

function storedTokens(): SessionTokens | undefined {
  try {
    const stored = SessionTokens.decode(JSON.parse(sessionStorage.getItem(storageKey) ?? "null"));
    return stored._tag === "Right" ? stored.right : undefined;
  } catch {
    return undefined;
  }
}

/** By both of its times, so that nothing depends on whether the browser's clock is right; undefined where it tells none. */
function lifetimeOf(accessToken: string): number | undefined {
  try {
    const { exp, iat } = decodeJwt(accessToken);
    return exp === undefined || iat === undefined ? undefined : exp - iat;
  } catch {
    return undefined;
  }
}

/** What the service gives to somebody who signs in (docs/authentication.md). */
export const TokenPair = model({ accessToken: t.string, refreshToken: model({ id: t.string }, {}) }, {});
