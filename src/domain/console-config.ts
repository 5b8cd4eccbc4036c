import * as t from "io-ts";
import { model, OneOf } from "./codec";

/**
 * What the operators' page has to know before it can ask anything: how people sign in, and where the Temporal Web UI
 * is. Holds nothing that needs protection, because it is read before anybody has signed in.
 */
export const ConsoleConfig = model(
  { authenticationMode: OneOf("dev", "local", "oidc"), temporalNamespace: t.string },
  { temporalUiUrl: t.string },
);
export type ConsoleConfig = t.TypeOf<typeof ConsoleConfig>;
