import { readFileSync } from "node:fs";
import * as E from "fp-ts/Either";
import type { Authentication } from "../authentication/authentication";
import { devAuthentication } from "../authentication/dev-authentication";
import { localAuthentication, loginLimiter } from "../authentication/local-authentication";
import { oidcAuthentication } from "../authentication/oidc-authentication";
import { revokedTokens, shortestKey, signedTokens } from "../authentication/tokens";
import { usersOfFile } from "../authentication/users";
import type { AuthenticationConfig } from "../config";
import type { ConsoleSignIn } from "../domain/console-config";
import { oneLine, sentences, StartupError } from "../startup-error";

const guide = "docs/authentication.md says how.";
const now = () => new Date();

/**
 * The authentication that AUTH_MODE names. Rejects with a StartupError that names the variable that is missing or
 * wrong. `warn` is told of what goes wrong later, without any credential.
 */
export async function loadAuthentication(
  config: AuthenticationConfig,
  warn: (message: string) => void,
): Promise<Authentication> {
  switch (config.mode) {
    case "dev":
      return devAuthentication;
    case "local":
      return loadLocal(config, warn);
    case "oidc": {
      const { issuer, audience, roleClaim, keysUrl } = config;
      if (issuer === undefined || audience === undefined)
        throw new StartupError(`AUTH_MODE=oidc needs OIDC_ISSUER and OIDC_AUDIENCE: set both. ${guide}`);
      return oidcAuthentication({ issuer, audience, roleClaim, keysUrl, now });
    }
  }
}

/** How the console signs people in at the issuer; nothing where it does not. */
export function consoleSignIn({ mode, issuer, audience, clientId, scope }: AuthenticationConfig): {
  readonly signIn?: ConsoleSignIn;
} {
  if (mode !== "oidc" || issuer === undefined || audience === undefined || clientId === undefined) return {};
  return { signIn: { issuer, audience, clientId, scope } };
}

async function loadLocal(config: AuthenticationConfig, warn: (message: string) => void): Promise<Authentication> {
  const { usersFile, revokedDir, accessTokenMinutes, refreshTokenHours } = config;
  if (usersFile === undefined)
    throw new StartupError(`AUTH_MODE=local needs a users file: make one and set AUTH_USERS_FILE. ${guide}`);
  const key = signingKey(config);
  const users = usersOfFile(usersFile, warn);
  if (E.isLeft(users))
    throw new StartupError(`AUTH_USERS_FILE=${usersFile} cannot be used: ${sentences(users.left)} ${guide}`);
  const revoked = await revokedTokens(revokedDir, refreshTokenHours).catch((error: unknown) => {
    throw new StartupError(
      `${revokedDir}, where revoked tokens are kept, cannot be used: ${oneLine(error)}. Set AUTH_REVOKED_DIR.`,
    );
  });
  return localAuthentication({
    users: users.right,
    tokens: signedTokens({ key, accessTokenMinutes, refreshTokenHours, now }),
    revoked,
    limiter: loginLimiter(),
  });
}

/** The text of the variable or of the file, whichever was given, as bytes. */
function signingKey({ signingKey: text, signingKeyFile: file }: AuthenticationConfig): Buffer {
  if (text === undefined && file === undefined)
    throw new StartupError(
      `AUTH_MODE=local needs a key that signs tokens: make one and set AUTH_SIGNING_KEY_FILE. ${guide}`,
    );
  const where = text === undefined ? `AUTH_SIGNING_KEY_FILE=${file}` : "AUTH_SIGNING_KEY";
  const key = Buffer.from(text ?? readKeyFile(file ?? ""));
  if (key.length < shortestKey)
    throw new StartupError(`${where}: the key has ${key.length} bytes and needs ${shortestKey} or more. ${guide}`);
  return key;
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new StartupError(`AUTH_SIGNING_KEY_FILE=${file} cannot be read: ${oneLine(error)}. ${guide}`);
  }
}
