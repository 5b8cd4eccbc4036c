import * as t from "io-ts";
import * as oauth from "oauth4webapi";
import { model } from "../../domain/codec";
import type { ConsoleSignIn } from "../../domain/console-config";
import { ApiFailure } from "./send-request";
import { freshTokens, type SessionTokens, setTokens } from "./session";

/** What this tab keeps while somebody is away at the issuer. */
const Attempt = model({ state: t.string, verifier: t.string, returnTo: t.string }, {});
const storageKey = "upgrade-console-sign-in";
/** How long an answer of the issuer may take, in milliseconds. */
const answerMilliseconds = 20_000;

/** Leaves for the issuer, by the Authorization Code flow with PKCE (RFC 7636). Rejects with `ApiFailure`. */
export async function leaveForIssuer(signIn: ConsoleSignIn): Promise<void> {
  const { authorization_endpoint: endpoint } = await metadataOf(signIn);
  if (endpoint === undefined) throw failed("its metadata has no sign-in address");
  const attempt = {
    state: oauth.generateRandomState(),
    verifier: oauth.generateRandomCodeVerifier(),
    returnTo: location.hash,
  };
  sessionStorage.setItem(storageKey, JSON.stringify(attempt));
  const url = new URL(endpoint);
  const parameters = {
    client_id: signIn.clientId,
    redirect_uri: redirectUri(),
    response_type: "code",
    scope: signIn.scope,
    state: attempt.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: "S256",
    ...resourceOf(signIn),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  location.assign(url);
}

/**
 * Takes up the sign-in where this page is what the issuer has led back to; otherwise does nothing. The code is taken
 * out of the address whatever becomes of it. Rejects with `ApiFailure`.
 */
export async function returnFromIssuer(signIn: ConsoleSignIn): Promise<void> {
  const address = new URL(location.href);
  const attempt = takeAttempt();
  if (!attempt || !address.searchParams.has("state")) return;
  history.replaceState(null, "", location.pathname);
  // Not in the same step: only a change of the fragment tells the page where it is.
  location.replace(attempt.returnTo || "#/");
  const server = await metadataOf(signIn);
  const client = { client_id: signIn.clientId };
  await attempted(async () => {
    const parameters = oauth.validateAuthResponse(server, client, address, attempt.state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      parameters,
      redirectUri(),
      attempt.verifier,
      { ...requestTo(signIn), additionalParameters: resourceOf(signIn) },
    );
    setTokens(tokensOf(await oauth.processAuthorizationCodeResponse(server, client, response)));
  });
}

/** Other tokens of the issuer; undefined where it refuses. Rejects with `ApiFailure` where it does not answer. */
export async function renewAtIssuer(signIn: ConsoleSignIn, refreshToken: string): Promise<SessionTokens | undefined> {
  const server = await metadataOf(signIn);
  const client = { client_id: signIn.clientId };
  return attempted(async () => {
    const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, {
      ...requestTo(signIn),
      additionalParameters: resourceOf(signIn),
    });
    try {
      return tokensOf(await oauth.processRefreshTokenResponse(server, client, response), refreshToken);
    } catch (thrown) {
      if (thrown instanceof oauth.ResponseBodyError) return undefined;
      throw thrown;
    }
  });
}

/** Has the issuer end a token, where it can. */
export async function revokeAtIssuer(signIn: ConsoleSignIn, token: string): Promise<void> {
  const server = await metadataOf(signIn);
  if (server.revocation_endpoint === undefined) return;
  await oauth.revocationRequest(server, { client_id: signIn.clientId }, oauth.None(), token, requestTo(signIn));
}

function metadataOf(signIn: ConsoleSignIn): Promise<oauth.AuthorizationServer> {
  return attempted(async () => {
    const issuer = new URL(signIn.issuer);
    return oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, requestTo(signIn)));
  });
}

function tokensOf(answer: oauth.TokenEndpointResponse, refreshBefore?: string): SessionTokens {
  return freshTokens(answer.access_token, answer.refresh_token ?? refreshBefore, answer.expires_in);
}

/** The configuration allows http:// on this machine only, where there is no TLS to insist on. */
function requestTo({ issuer }: ConsoleSignIn) {
  return {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- so marked to stand out; it is not going away
    [oauth.allowInsecureRequests]: new URL(issuer).protocol === "http:",
    signal: AbortSignal.timeout(answerMilliseconds),
  };
}

/** Issuers that give tokens for several services are told which (RFC 8707); it takes URIs only. */
function resourceOf({ audience }: ConsoleSignIn): Record<string, string> {
  return URL.canParse(audience) ? { resource: audience } : {};
}

function redirectUri(): string {
  return `${location.origin}/`;
}

function takeAttempt(): t.TypeOf<typeof Attempt> | undefined {
  const stored = Attempt.decode(JSON.parse(sessionStorage.getItem(storageKey) ?? "null"));
  sessionStorage.removeItem(storageKey);
  return stored._tag === "Right" ? stored.right : undefined;
}

async function attempted<A>(work: () => Promise<A>): Promise<A> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof oauth.AuthorizationResponseError || thrown instanceof oauth.ResponseBodyError)
      throw failed(thrown.error_description ?? thrown.error);
    throw failed(thrown instanceof Error ? thrown.message : "it does not answer");
  }
}

function failed(reason: string): ApiFailure {
  return new ApiFailure({
    message: `Sign-in at the issuer failed: ${reason}.`,
    remediationMessage:
      "Try again. If it keeps failing, ask the operator of the service to check the console's client at the issuer.",
  });
}
