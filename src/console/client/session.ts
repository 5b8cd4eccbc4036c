import { computed, signal } from "@preact/signals";
import * as t from "io-ts";
import type { ConsoleConfig } from "../../domain/console-config";
import { model } from "../../domain/codec";

/** The credentials of one sign-in. Without `refreshId` they cannot be renewed: they came from an issuer of its own. */
const SessionTokens = model({ accessToken: t.string }, { refreshId: t.string });
export type SessionTokens = t.TypeOf<typeof SessionTokens>;

const storageKey = "upgrade-console-session";

/** What the API has said of this installation; undefined until it has. */
export const installation = signal<ConsoleConfig | undefined>(undefined);

/** Who is signed in. Kept for this tab only, and gone when it is closed. */
const tokens = signal<SessionTokens | undefined>(storedTokens());

/** Whether somebody has to sign in before anything can be shown. */
export const needsSignIn = computed(
  () =>
    installation.value !== undefined && installation.value.authenticationMode !== "dev" && tokens.value === undefined,
);

/** Whether there is something to sign out of. */
export const isSignedIn = computed(() => tokens.value !== undefined);

/** The Authorization header of a request; AUTH_MODE=dev takes any. */
export function authorization(): Record<string, string> {
  if (tokens.value) return { authorization: `Bearer ${tokens.value.accessToken}` };
  return installation.value?.authenticationMode === "dev" ? { authorization: "Bearer console" } : {};
}

/** The id by which a new access token is had, if there is one. */
export function refreshId(): string | undefined {
  return tokens.value?.refreshId;
}

/** Begins, renews or (with undefined) ends the session of this tab. */
export function setTokens(next: SessionTokens | undefined): void {
  if (next) sessionStorage.setItem(storageKey, JSON.stringify(next));
  else sessionStorage.removeItem(storageKey);
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
