import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from "node:crypto";

/**
 * What is kept of a password: the parameters of scrypt (RFC 7914), the salt and the key. Written in the PHC string
 * format, `$scrypt$ln=15,r=8,p=1$SALT$KEY`, with SALT and KEY in base64 without padding.
 */
export interface PasswordHash {
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
export const nobodysPassword: PasswordHash = {
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
