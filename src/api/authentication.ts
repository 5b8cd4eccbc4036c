import * as TE from "fp-ts/TaskEither";
import { notAllowed, type ServiceError } from "../upgrades/service-error";
import type { Access } from "./api-error";

/** Who asks, once credentials are accepted. `caller` is a stable name: the same key of two callers is two keys. */
export interface Credentials {
  readonly caller: string;
}

/** Decides who a request comes from and whether it may do what its route does. Failures are `NotAllowed`. */
export interface Authentication {
  /** `authorization` is the value of the header as it came; undefined where there is none. */
  authenticate(
    authorization: string | undefined,
    access: Exclude<Access, "OPEN">,
  ): TE.TaskEither<ServiceError, Credentials>;
}

/**
 * Authentication for development: reads are open, writes need an Authorization header with any value that is not
 * blank (Spec 5 leaves the scheme open). All callers are one. Never for an address that others can reach.
 */
export const devAuthentication: Authentication = {
  authenticate: (authorization, access) =>
    access === "READ" || (authorization ?? "").trim() !== ""
      ? TE.right({ caller: "dev" })
      : TE.left(
          notAllowed({
            code: "Unauthorized",
            message: "The request has no Authorization header, or an empty one.",
            remediation: "Send your credentials in the Authorization header.",
          }),
        ),
};
