import { createSecretKey, randomUUID } from "node:crypto";
import { access, constants, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { errors, jwtVerify, SignJWT } from "jose";
import { Identifier } from "../domain/codec";
import type { ServiceError } from "../upgrades/service-error";
import { type Role, roleNamed, unauthorized } from "./authentication";

/** Signs and checks the service's own tokens: JWTs by HS256, whose key all API processes share. */
export interface SignedTokens {
  /** A token for the Authorization header. */
  signAccess(token: AccessClaims): Promise<string>;
  signRefresh(token: Omit<RefreshClaims, "id">): Promise<string>;
  /** Undefined where the token is not one of ours, was made for another use, or has expired. */
  readAccess(token: string): Promise<AccessGranted | undefined>;
  readRefresh(token: string): Promise<RefreshClaims | undefined>;
}

export interface AccessClaims {
  readonly username: string;
  readonly role: Role;
}

/** An access token that was accepted; `milliseconds` is how long it still is. */
export interface AccessGranted extends AccessClaims {
  readonly milliseconds: number;
}

export interface RefreshClaims {
  /** A UUID. */
  readonly id: string;
  readonly username: string;
  /** `User.passwordMark` when it was made. */
  readonly passwordMark: string;
}

export interface SigningOptions {
  /** At least {@link shortestKey} bytes. */
  readonly key: Buffer;
  readonly accessTokenMinutes: number;
  readonly refreshTokenHours: number;
  readonly now: () => Date;
}

/** HS256 asks for a key as long as its hash, in bytes (RFC 7518, 3.2). */
export const shortestKey = 32;

const algorithm = "HS256";
const service = "upgrade-management-service";
/** The type in the header keeps a refresh token from being taken as an access token (RFC 8725, 3.11). */
const types = { access: "at+jwt", refresh: "rt+jwt" } as const;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function signedTokens({ key, accessTokenMinutes, refreshTokenHours, now }: SigningOptions): SignedTokens {
  const secret = createSecretKey(key);
  const seconds = () => Math.floor(now().getTime() / 1000);
  const sign = (typ: string, subject: string, lifetimeSeconds: number, claims: Record<string, string>) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: algorithm, typ })
      .setIssuer(service)
      .setAudience(service)
      .setSubject(subject)
      .setJti(randomUUID())
      .setIssuedAt(seconds())
      .setExpirationTime(seconds() + lifetimeSeconds)
      .sign(secret);
  const claimsOf = async (token: string, typ: string) => {
    try {
      const { payload } = await jwtVerify(token, secret, {
        algorithms: [algorithm],
        typ,
        issuer: service,
        audience: service,
        requiredClaims: ["exp", "sub", "jti"],
        currentDate: now(),
      });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  };
  return {
    signAccess: ({ username, role }) => sign(types.access, username, accessTokenMinutes * 60, { role }),
    signRefresh: ({ username, passwordMark }) =>
      sign(types.refresh, username, refreshTokenHours * 3600, { passwordMark }),
    readAccess: async (token) => {
      const claims = await claimsOf(token, types.access);
      const role = roleNamed(claims?.["role"]);
      const { sub, exp = 0 } = claims ?? {};
      return role !== undefined && Identifier.is(sub)
        ? { username: sub, role, milliseconds: exp * 1000 - now().getTime() }
        : undefined;
    },
    readRefresh: async (token) => {
      const claims = await claimsOf(token, types.refresh);
      const { sub, jti, passwordMark } = claims ?? {};
      return Identifier.is(sub) && t.string.is(jti) && uuid.test(jti) && t.string.is(passwordMark)
        ? { id: jti, username: sub, passwordMark }
        : undefined;
    },
  };
}

/** Which refresh tokens have been revoked before their time. `id` is the UUID in the token. */
export interface RevokedTokens {
  revoke(id: string): Promise<void>;
  has(id: string): Promise<boolean>;
}

/**
 * Revocations as empty files of a folder, named by the token's id: they outlive the process, and every API process
 * that sees the folder knows of them, without a lock. Files are removed when their tokens have expired anyway.
 * Rejects where the folder cannot be written.
 */
export async function revokedTokens(folder: string, lifetimeHours: number): Promise<RevokedTokens> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  await removeExpired(folder, lifetimeHours);
  return {
    revoke: (id) => writeFile(join(folder, id), "", { mode: 0o600 }),
    has: async (id) => (await stat(join(folder, id)).catch(onlyMissing)) !== undefined,
  };
}

/** A folder that cannot be looked into must not read as "not revoked". */
function onlyMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

async function removeExpired(folder: string, lifetimeHours: number): Promise<void> {
  const oldest = Date.now() - lifetimeHours * 3_600_000;
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const revoked = await stat(file).catch(onlyMissing);
    // Several API processes may be doing the same.
    if (revoked?.isFile() && revoked.mtimeMs < oldest) await rm(file, { force: true });
  }
}

const scheme = "Send a token in the Authorization header: Bearer TOKEN.";

/** The token of an Authorization header (RFC 6750, 2.1). On the left why there is none. */
export function bearerToken(authorization: string | undefined): E.Either<ServiceError, string> {
  if ((authorization ?? "").trim() === "")
    return E.left(unauthorized("The request has no Authorization header, or an empty one.", scheme));
  const [, token] = /^\s*bearer +([\w.~+/-]+=*)\s*$/i.exec(authorization ?? "") ?? [];
  return token === undefined
    ? E.left(unauthorized("The Authorization header has no bearer token.", scheme))
    : E.right(token);
}
