import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { model } from "../domain/codec";
import { decodeJson } from "../domain/decode";
import type { Environment } from "./environment";
import { wrongUsage } from "./errors";

/** What `upgradectl login` keeps: which server, and the tokens that it gave. Tokens are never printed. */
const StoredLogin = model({ server: t.string, accessToken: t.string }, { refreshToken: t.string });
/** An address and its tokens. */
export type StoredLogin = t.TypeOf<typeof StoredLogin>;

/** Where the login is kept: `UPGRADECTL_CONFIG`, else `upgradectl/config.json` in the user's configuration folder. */
export function configPath({ env }: Pick<Environment, "env">): string {
  const folder = env["XDG_CONFIG_HOME"] || join(env["HOME"] || homedir(), ".config");
  return env["UPGRADECTL_CONFIG"] || join(folder, "upgradectl", "config.json");
}

/** The stored login; `undefined` where there is none. Throws where the file is not what `login` writes. */
export function readLogin(path: string): StoredLogin | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw wrongUsage(`${path} cannot be read.`, "Make it readable for yourself, or remove it.", error);
  }
  const login = decodeJson(StoredLogin, text);
  if (E.isRight(login)) return login.right;
  throw wrongUsage(`${path} is not what upgradectl login writes.`, `Remove ${path}, then log in again.`);
}

/** Keeps a login where only its user can read it. In one step, so that no other command sees half of it. */
export function writeLogin(path: string, login: StoredLogin): void {
  const fresh = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(fresh, { force: true });
    writeFileSync(fresh, `${JSON.stringify(StoredLogin.encode(login), null, 2)}\n`, { mode: 0o600, flag: "wx" });
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw wrongUsage(`${path} cannot be written.`, "Set UPGRADECTL_CONFIG to a file that you may write.", error);
  }
}

/** Forgets the login. */
export function removeLogin(path: string): void {
  rmSync(path, { force: true });
}
