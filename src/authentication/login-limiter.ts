import * as E from "fp-ts/Either";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { networkOf } from "../api/client-address";

/** How many logins are let through in a time; those that succeed do not count. */
export interface LoginLimits {
  readonly perAccount: number;
  readonly perAddress: number;
  readonly seconds: number;
}

export const defaultLoginLimits: LoginLimits = { perAccount: 10, perAddress: 50, seconds: 300 };

export interface LoginLimiter {
  /** Counts an attempt before it is made, so that many at once are no way around. Left: seconds until the next. */
  attempt(username: string, address: string): Promise<E.Either<number, void>>;
  /** Takes back what a login has counted that succeeded. */
  succeeded(username: string, address: string): Promise<void>;
}

/**
 * Limits guesses at passwords, of one account from anywhere and of any account from one network. Kept in memory: each
 * API process counts for itself, and a restart begins anew.
 */
export function loginLimiter({ perAccount, perAddress, seconds }: LoginLimits = defaultLoginLimits): LoginLimiter {
  const accounts = new RateLimiterMemory({ points: perAccount, duration: seconds });
  const networks = new RateLimiterMemory({ points: perAddress, duration: seconds });
  return {
    attempt: async (username, address) => {
      try {
        // First: an address that is refused can fill the memory with no more names.
        await networks.consume(networkOf(address));
        await accounts.consume(username);
        return E.right(undefined);
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        return E.left(Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)));
      }
    },
    succeeded: async (username, address) => {
      await accounts.delete(username);
      await networks.reward(networkOf(address));
    },
  };
}
