import * as t from "io-ts";
import { model, OneOf } from "./codec";

/** How the operators' page gets a token of the issuer: it is a public client of it (docs/authentication.md). */
const ConsoleSignIn = model(
  {
    /** URL, exactly as the issuer names itself. */
    issuer: t.string,
    clientId: t.string,
    /** Separated by spaces. */
    scope: t.string,
    /** What the token is to be for. */
    audience: t.string,
  },
  {},
);
export type ConsoleSignIn = t.TypeOf<typeof ConsoleSignIn>;

/**
 * What the operators' page has to know before it can ask anything: how people sign in, and where the Temporal Web UI
 * is. Holds nothing that needs protection, because it is read before anybody has signed in.
 */
export const ConsoleConfig = model(
  { authenticationMode: OneOf("dev", "local", "oidc"), temporalNamespace: t.string },
  { temporalUiUrl: t.string, signIn: ConsoleSignIn },
);
export type ConsoleConfig = t.TypeOf<typeof ConsoleConfig>;

/** Who has signed in to the operators' page. */
export const ConsoleSession = model(
  {
    caller: t.string,
    role: t.string,
    /** Whether that role may start and steer upgrades. */
    mayOperate: t.boolean,
    /** Whether it may approve and reject upgrades. */
    mayApprove: t.boolean,
  },
  {},
);
export type ConsoleSession = t.TypeOf<typeof ConsoleSession>;
