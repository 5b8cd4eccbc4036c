import { randomBytes } from "node:crypto";
import * as TE from "fp-ts/TaskEither";
import { unexpected } from "../upgrades/service-error";
import { type Authentication, type TokenIssuer, unauthorized } from "./authentication";
import { signedTokens } from "./tokens";

/**
 * Authentication for development: reads are open, writes need an Authorization header with any value that is not
 * blank (Spec 5 leaves the scheme open), and anyone gets tokens. All callers are one, and may do everything. Never for
 * an address that others can reach.
 */
export const devAuthentication: Authentication = {
  mode: "dev",
  authenticate: (authorization, access) =>
    access === "READ" || (authorization ?? "").trim() !== ""
      ? TE.right({ caller: "dev", role: "ADMIN" })
      : TE.left(
          unauthorized(
            "The request has no Authorization header, or an empty one.",
            "Send your credentials in the Authorization header.",
          ),
        ),
  tokens: devTokens(),
};

/** They look like those of AUTH_MODE=local, for clients that look into them; nobody ever checks them. */
function devTokens(): TokenIssuer {
  const tokens = signedTokens({
    key: randomBytes(32),
    accessTokenMinutes: 60,
    refreshTokenHours: 24,
    now: () => new Date(),
  });
  const access = () => tokens.signAccess({ username: "dev", role: "ADMIN" });
  return {
    issue: () =>
      TE.tryCatch(
        async () => ({
          accessToken: await access(),
          refreshToken: { id: await tokens.signRefresh({ username: "dev", passwordMark: "dev" }) },
        }),
        unexpected,
      ),
    refresh: () => TE.tryCatch(access, unexpected),
    revoke: () => TE.right(undefined),
  };
}
