import type { AuthenticationError } from "../authentication/authentication";
import type { ServiceError } from "../upgrades/service-error";
import type { Shed } from "./load-control";

/**
 * Every way in which a request can fail: those of the use cases and of authentication, and those that only HTTP knows.
 *
 * - `PathNotFound`: no route has this path (404).
 * - `MethodNotAllowed`: the path exists, with the methods of `allowed` (405).
 * - `NotReady`: the service cannot do its work now, because of `reason` (503).
 * - `Shed`: refused before anything was done, because of too many requests of all callers (503), or of this one (429).
 */
export type ApiError =
  | AuthenticationError
  | { readonly _tag: "PathNotFound"; readonly path: string }
  | { readonly _tag: "MethodNotAllowed"; readonly method: string; readonly allowed: readonly string[] }
  | { readonly _tag: "NotReady"; readonly reason: ServiceError }
  | Shed;

/** What a route does to the service; decides what a caller must prove, and which status a lost Temporal has. */
export type Access = "OPEN" | "READ" | "WRITE";
