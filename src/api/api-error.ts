import type { ServiceError } from "../upgrades/service-error";
import type { Shed } from "./load-control";

/**
 * Every way in which a request can fail: those of the use cases, and those that only HTTP knows.
 *
 * - `PathNotFound`: no route has this path (404).
 * - `MethodNotAllowed`: the path exists, with the methods of `allowed` (405).
 * - `NotReady`: the service cannot do its work now, because of `reason` (503).
 * - `TooManyLogins`: further logins of an account or from an address are refused for a while (403).
 * - `Shed`: refused before anything was done, because of too many requests of all callers (503), or of this one (429).
 * - `IssuerUnreachable`: the keys that tokens are checked with cannot be had (424, on reads 500).
 */
export type ApiError =
  | ServiceError
  | { readonly _tag: "PathNotFound"; readonly path: string }
  | { readonly _tag: "MethodNotAllowed"; readonly method: string; readonly allowed: readonly string[] }
  | { readonly _tag: "NotReady"; readonly reason: ServiceError }
  | { readonly _tag: "TooManyLogins"; readonly retryAfterSeconds: number }
  | Shed
  | { readonly _tag: "IssuerUnreachable"; readonly issuer: string; readonly cause: unknown };

/** What a route does to the service; decides what a caller must prove, and which status a lost Temporal has. */
export type Access = "OPEN" | "READ" | "WRITE";
