import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as E from "fp-ts/Either";
import type { Authentication } from "../../../src/authentication/authentication";
import {
  defaultLoginLimits,
  localAuthentication,
  loginLimiter,
  type LoginLimits,
} from "../../../src/authentication/local-authentication";
import { revokedTokens, signedTokens } from "../../../src/authentication/tokens";
import { hashPassword, usersOfFile } from "../../../src/authentication/users";

export const signingKey = "a signing key of more than 32 bytes, for tests";
export const accessTokenMinutes = 60;
export const refreshTokenHours = 24;

/** The users of every test: their names in small letters, each with a password of its own. */
export const passwords = {
  viewer: "the password of a viewer",
  operator: "the password of an operator",
  admin: "the password of an admin",
} as const;
export type UserName = keyof typeof passwords;

/** The files of AUTH_MODE=local in a folder that is removed afterwards, and a clock that stands still. */
export interface LocalFiles {
  readonly folder: string;
  readonly usersFile: string;
  readonly warnings: string[];
  readonly clock: { now: number };
  /** Another API process would have just such an authentication. */
  authentication(options?: { readonly limits?: LoginLimits; readonly key?: string }): Promise<Authentication>;
  writeUsers(users: Readonly<Record<string, { readonly role: string; readonly password: string }>>): void;
  remove(): void;
}

let hashed: Promise<Record<UserName, string>> | undefined;

async function hashes(): Promise<Record<UserName, string>> {
  const [viewer, operator, admin] = await Promise.all(Object.values(passwords).map(hashPassword));
  return { viewer: viewer!, operator: operator!, admin: admin! };
}

/** The three users as the users file has them. */
export async function usualUsers() {
  const { viewer, operator, admin } = await (hashed ??= hashes());
  return {
    viewer: { role: "VIEWER", password: viewer },
    operator: { role: "OPERATOR", password: operator },
    admin: { role: "ADMIN", password: admin },
  };
}

export async function localFiles(): Promise<LocalFiles> {
  const folder = mkdtempSync(join(tmpdir(), "local-authentication-"));
  const usersFile = join(folder, "users.yaml");
  const warnings: string[] = [];
  const clock = { now: Date.now() };
  const writeUsers: LocalFiles["writeUsers"] = (users) =>
    writeFileSync(
      usersFile,
      JSON.stringify({ users: Object.entries(users).map(([username, user]) => ({ username, ...user })) }),
    );
  writeUsers(await usualUsers());
  return {
    folder,
    usersFile,
    warnings,
    clock,
    writeUsers,
    authentication: async ({ limits = defaultLoginLimits, key = signingKey } = {}) => {
      const users = usersOfFile(usersFile, (warning) => warnings.push(warning));
      if (E.isLeft(users)) throw new Error(users.left.join(" "));
      return localAuthentication({
        users: users.right,
        tokens: signedTokens({
          key: Buffer.from(key),
          accessTokenMinutes,
          refreshTokenHours,
          now: () => new Date(clock.now),
        }),
        revoked: await revokedTokens(join(folder, "revoked"), refreshTokenHours),
        limiter: loginLimiter(limits),
      });
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
