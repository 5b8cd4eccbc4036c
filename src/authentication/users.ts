import { createHash, randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { parse } from "yaml";
import { Identifier } from "../domain/codec";
import { type Role, roleNamed, roles } from "./authentication";

/** Somebody who may log in. */
export interface User {
  readonly username: string;
  readonly role: Role;
  readonly password: PasswordHash;
  /** Changes with the password, and does not tell it. */
  readonly passwordMark: string;
}

/** The users as the file has them now. */
export interface Users {
  find(username: string): User | undefined;
}

type UsersByName = ReadonlyMap<string, User>;

/** Reads a users file. On the left what is wrong with it, a line each; a line never repeats a hash. */
export function readUsersFile(file: string): E.Either<readonly string[], UsersByName> {
  let content: unknown;
  try {
    content = parse(readFileSync(file, "utf8"));
  } catch (error) {
    return E.left([withoutExcerpt(error)]);
  }
  if (!t.type({ users: t.array(t.UnknownRecord) }).is(content)) return E.left(["It needs a list named users."]);
  const users = new Map<string, User>();
  const problems: string[] = [];
  for (const [place, entry] of content.users.entries()) {
    const user = userOf(entry, `users[${place}]`);
    if (E.isLeft(user)) problems.push(...user.left);
    else if (users.has(user.right.username)) problems.push(`users[${place}]: ${user.right.username} occurs twice.`);
    else users.set(user.right.username, user.right);
  }
  if (content.users.length === 0) problems.push("It has no user.");
  return problems.length > 0 ? E.left(problems) : E.right(users);
}

/** YAML's parser shows the place of a mistake with the lines around it, which can hold a hash. */
function withoutExcerpt(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n")[0] ?? "unreadable") : "unreadable";
}

function userOf({ username, role, password }: Record<string, unknown>, place: string): E.Either<string[], User> {
  const named = roleNamed(role);
  const hash = typeof password === "string" ? parsePasswordHash(password) : undefined;
  if (Identifier.is(username) && named !== undefined && hash)
    return E.right({ username, role: named, password: hash, passwordMark: markOf(hash) });
  return E.left([
    ...(Identifier.is(username) ? [] : [`${place}.username must be ${Identifier.expected}.`]),
    ...(named === undefined ? [`${place}.role must be one of ${roles.join(", ")}.`] : []),
    ...(hash ? [] : [`${place}.password must be a line printed by npm start -- hash-password.`]),
  ]);
}

function markOf({ salt, key }: PasswordHash): string {
  return createHash("sha256").update(salt).update(key).digest("base64url").slice(0, 22);
}

/**
 * The users of a file, read again when it has changed, so that a user who is taken out can log in no more. A file that
 * cannot be used leaves the users as they were, and `warn` is told once what is wrong.
 */
export function usersOfFile(file: string, warn: (message: string) => void): E.Either<readonly string[], Users> {
  let seen = versionOf(file);
  const first = readUsersFile(file);
  if (E.isLeft(first)) return first;
  let users = first.right;
  const refresh = () => {
    const now = versionOf(file);
    if (now === seen) return;
    seen = now;
    const read = readUsersFile(file);
    if (E.isRight(read)) users = read.right;
    else warn(`The users file ${file} cannot be used, so the previous users stay: ${read.left.join(" ")}`);
  };
  return E.right({
    find: (username) => {
      refresh();
      return users.get(username);
    },
  });
}

function versionOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : "missing";
}

/**
 * What is kept of a password: the parameters of scrypt (RFC 7914), the salt and the key. Written in the PHC string
 * format, `$scrypt$ln=15,r=8,p=1$SALT$KEY`, with SALT and KEY in base64 without padding.
 */
interface PasswordHash {
  /** Two to this power is scrypt's cost. */
  readonly logCost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

/** 32 MiB of memory and some tens of milliseconds for each guess. */
const defaults = { logCost: 15, blockSize: 8, parallelization: 1 };
const saltBytes = 16;
const keyBytes = 32;
const format = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{16,128})\$([A-Za-z0-9+/]{22,128})$/;

/** Hashes a new password, as text for the users file. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const { logCost, blockSize, parallelization } = defaults;
  const key = await derive(password, { ...defaults, salt, key: Buffer.alloc(keyBytes) });
  return `$scrypt$ln=${logCost},r=${blockSize},p=${parallelization}$${base64(salt)}$${base64(key)}`;
}

/** Undefined where the text is no such hash, or one that is too cheap to be safe or too dear to be checked. */
export function parsePasswordHash(text: string): PasswordHash | undefined {
  const [, logCost, blockSize, parallelization, salt, key] = format.exec(text) ?? [];
  if (salt === undefined || key === undefined) return undefined;
  const numbers = {
    logCost: Number(logCost),
    blockSize: Number(blockSize),
    parallelization: Number(parallelization),
  };
  const within = (value: number, min: number, max: number) => value >= min && value <= max;
  if (!within(numbers.logCost, 14, 18) || !within(numbers.blockSize, 8, 16) || !within(numbers.parallelization, 1, 4))
    return undefined;
  return { ...numbers, salt: Buffer.from(salt, "base64"), key: Buffer.from(key, "base64") };
}

/** Compares in a time that does not depend on where the two differ. */
export async function isPassword(password: string, hash: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await derive(password, hash), hash.key);
}

/** A hash that no password has, so that an unknown user takes as long as a known one. */
export const decoyPassword: PasswordHash = {
  ...defaults,
  salt: randomBytes(saltBytes),
  key: randomBytes(keyBytes),
};

function derive(password: string, { logCost, blockSize, parallelization, salt, key }: PasswordHash): Promise<Buffer> {
  const cost = 2 ** logCost;
  const options: ScryptOptions = { cost, blockSize, parallelization, maxmem: 256 * cost * blockSize };
  // The same characters can be typed as different code points (NIST SP 800-63B).
  const typed = password.normalize("NFKC");
  return new Promise((resolve, reject) =>
    scrypt(typed, salt, key.length, options, (error, derived) => (error ? reject(error) : resolve(derived))),
  );
}

const base64 = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
