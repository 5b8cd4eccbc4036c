import type * as TE from "fp-ts/TaskEither";
import { notAllowed, type ServiceError } from "../upgrades/service-error";
import type { Access, ApiError } from "./api-error";
import type { Role } from "./role";
import type { TokenIssuer } from "./token-issuer";

/** Who asks, once credentials are accepted. `caller` is a stable name: the same key of two callers is two keys. */
export interface Credentials {
  readonly caller: string;
  /** Undefined where the credentials are good and name no role of ours. */
  readonly role: Role | undefined;
  /** For how many milliseconds they are good from now; absent: without an end. */
  readonly milliseconds?: number;
}

/** The values of AUTH_MODE: what the OpenAPI document says of credentials depends on it. */
export type AuthenticationMode = "dev" | "local" | "oidc";

/** Decides who a request comes from. What the caller may do is decided by the role that the route names. */
export interface Authentication {
  readonly mode: AuthenticationMode;
  /**
   * `authorization` is the value of the header as it came; undefined where there is none. Fails with `NotAllowed` where
   * the credentials are missing or bad, and with `IssuerUnreachable` where that cannot be found out.
   */
  authenticate(
    authorization: string | undefined,
    access: Exclude<Access, "OPEN">,
  ): TE.TaskEither<ApiError, Credentials>;
  readonly tokens: TokenIssuer;
}

/** The failure of missing or bad credentials: 403 with the code `Unauthorized`. Neither text repeats a credential. */
export function unauthorized(message: string, remediation: string): ServiceError {
  return notAllowed({ code: "Unauthorized", message, remediation });
}
