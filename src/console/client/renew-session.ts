import { effect } from "@preact/signals";
import { renewAtIssuer, revokeAtIssuer } from "./issuer-sign-in";
import { ApiFailure, failureOf, readJson, sendRequest } from "./send-request";
import { aloneOfAllTabs, askOtherTabs } from "./shared-session";
import { freshTokens, installation, type SessionTokens, setTokens, TokenPair, tokens } from "./session";

/** A timer of a browser holds no longer time, in milliseconds. */
const longestTimer = 2 ** 31 - 1;

/** Signs in where the service itself knows its users. Rejects with `ApiFailure`. */
export async function signIn(username: string, password: string): Promise<void> {
  const response = await sendRequest({ method: "POST", path: "/v1/tokens", body: { username, password } });
  if (!response.ok) throw await failureOf(response);
  const pair = TokenPair.decode(await readJson(response));
  if (pair._tag === "Left") throw new ApiFailure({ message: "The answer to the sign-in is not in the expected form." });
  setTokens(freshTokens(pair.right.accessToken, pair.right.refreshToken.id));
}

/** Signs out at once; what renews the session is revoked, if whoever gave it can still be reached. */
export async function signOut(): Promise<void> {
  const before = tokens.value;
  const { signIn: issuer } = installation.value ?? {};
  setTokens(undefined);
  if (before?.refreshToken === undefined) return;
  const revoked = issuer
    ? revokeAtIssuer(issuer, before.refreshToken)
    : sendRequest({ method: "DELETE", path: "/v1/tokens/refresh-token", body: before.refreshToken });
  // Whoever cannot be reached cannot be told; the token ends by itself then.
  await revoked.catch(() => undefined);
}

let renewal: Promise<boolean> | undefined;

/**
 * Gets another access token than the one that was used; all who ask at the same time share one renewal. False where it is
 * refused. Rejects with
 * `ApiFailure` where nobody answers: the session may still be good then.
 */
export async function renewSession(used = tokens.value): Promise<boolean> {
  if (tokens.value !== used) return tokens.value !== undefined;
  renewal ??= renewOnce(used).finally(() => (renewal = undefined));
  return await renewal;
}

/** Renews the session before its access token ends, for as long as the page is open. */
export function keepSession(): void {
  effect(() => {
    const { renewAt, refreshToken } = tokens.value ?? {};
    if (renewAt === undefined || refreshToken === undefined) return undefined;
    const timer = setTimeout(
      // Where it does not work now, the first request that is refused tries again.
      () => void renewSession().catch(() => undefined),
      Math.min(longestTimer, Math.max(0, renewAt - Date.now())),
    );
    return () => clearTimeout(timer);
  });
}

/** An issuer may end a session whose refresh token is used twice, so only one tab renews, and the others take what it got. */
function renewOnce(before: SessionTokens | undefined): Promise<boolean> {
  return aloneOfAllTabs(async () => {
    await askOtherTabs();
    return tokens.value === before ? renew(before) : tokens.value !== undefined;
  });
}

async function renew(before: SessionTokens | undefined): Promise<boolean> {
  if (before?.refreshToken === undefined) return false;
  const { signIn: issuer } = installation.value ?? {};
  const next = issuer ? await renewAtIssuer(issuer, before.refreshToken) : await renewHere(before.refreshToken);
  // Somebody may have signed out meanwhile.
  if (!next || tokens.value !== before) return false;
  setTokens(next);
  return true;
}

async function renewHere(refreshToken: string): Promise<SessionTokens | undefined> {
  const response = await sendRequest({
    method: "PATCH",
    path: "/v1/tokens/access-token/refresh",
    body: refreshToken,
  });
  if (!response.ok && response.status !== 403) throw await failureOf(response);
  const accessToken = response.ok ? await readJson(response) : undefined;
  return typeof accessToken === "string" ? freshTokens(accessToken, refreshToken) : undefined;
}
