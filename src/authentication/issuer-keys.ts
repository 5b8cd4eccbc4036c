import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from "jose";
import * as t from "io-ts";
import { answerBounds, readBoundedText } from "../bounded-body";

/** The issuer's keys cannot be had, so no token can be checked. */
export class IssuerUnreachableError extends Error {
  override readonly name = "IssuerUnreachableError";
}

/** Where the keys of an issuer are. */
export interface KeySource {
  readonly issuer: string;
  /** Where the issuer's metadata (OpenID Connect Discovery 1.0) is not to be asked. */
  readonly keysUrl: string | undefined;
}

const callMilliseconds = 5_000;
/** Keys that the issuer has withdrawn are good for so long. */
const keepMilliseconds = 10 * 60_000;
/** An unknown key makes the service look again, but tokens with invented keys must not make it ask without end. */
const pauseMilliseconds = 30_000;

/** Errors that say that the token names no key of the issuer; all others are about getting the keys. */
const tokenErrors = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];

/**
 * The keys of an issuer, found by its metadata, fetched when they are first needed and kept. Rejects with
 * {@link IssuerUnreachableError} where they cannot be had.
 */
export function issuerKeys({ issuer, keysUrl }: KeySource): JWTVerifyGetKey {
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const find = async () => {
    const url = keysUrl ?? (await keysUrlOf(issuer));
    return createRemoteJWKSet(new URL(url), {
      timeoutDuration: callMilliseconds,
      cacheMaxAge: keepMilliseconds,
      cooldownDuration: pauseMilliseconds,
      [customFetch]: async (address, options) => {
        const answer = await fetch(address, options);
        return new Response(await boundedText(answer, address), { status: answer.status });
      },
    });
  };
  return async (header, token) => {
    // Requests that come together share one question; a failed one is asked again by the next request.
    const found = (keys ??= find());
    try {
      return await (
        await found
      )(header, token);
    } catch (error) {
      if (tokenErrors.some((type) => error instanceof type)) throw error;
      found.catch(() => {
        if (keys === found) keys = undefined;
      });
      throw new IssuerUnreachableError(`The keys of ${issuer} cannot be had`, { cause: error });
    }
  };
}

const boundedText = ({ body }: Response, url: string) =>
  readBoundedText(body, { whose: url, bytes: answerBounds.issuer });

const Metadata = t.type({ issuer: t.string, jwks_uri: t.string });

/** The metadata must name the issuer itself, or somebody else's keys would be taken (Discovery 1.0, 4.3). */
async function keysUrlOf(issuer: string): Promise<string> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const answer = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(callMilliseconds) });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`);
  const metadata: unknown = JSON.parse(await boundedText(answer, url));
  if (!Metadata.is(metadata)) throw new Error(`${url} answers no metadata of an issuer`);
  if (metadata.issuer !== issuer) throw new Error(`${url} answers the metadata of ${metadata.issuer.slice(0, 255)}`);
  return metadata.jwks_uri;
}
