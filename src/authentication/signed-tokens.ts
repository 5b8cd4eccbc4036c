import { createSecretKey, randomUUID } from "node:crypto";
import * as t from "io-ts";
import { errors, jwtVerify, SignJWT } from "jose";
import { roleNamed, type Role } from "../api/role";
import { Identifier } from "../domain/codec";

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
  /** {@link User.passwordMark} when it was made. */
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
