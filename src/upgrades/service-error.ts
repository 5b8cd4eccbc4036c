import type { ErrorBody } from "../domain/errors";

/** One thing that is wrong with a request: which field or resource, a stable code, and what to do about it. */
export interface Problem {
  /** Path of the field, such as `resourceUpgradeSpecs[0].resourceId`; absent where the request as a whole is meant. */
  readonly path?: string;
  /** A code of docs/error-codes.md. */
  readonly code: string;
  readonly message: string;
  readonly remediation: string;
  /** What it would have been alone, where it comes together with problems of another kind. */
  readonly effect?: "BAD_REQUEST" | "NOT_ALLOWED" | "FAILED_DEPENDENCY";
}

/** What a path can name that is not there. */
export type NamedResource = "upgrade" | "task" | "bundle" | "cluster" | "host" | "precheck" | "schedule";

/**
 * Every way in which a use case can fail. `api/error-response.ts` is the one table from here to status and body.
 *
 * - `BadRequest`: the request can never succeed as it is (400). `unlisted` counts problems beyond those in `problems`.
 * - `NotAllowed`: understood, but not permitted or not supported (403).
 * - `FailedDependency`: bundle, inventory, component manager or Temporal is not available (424).
 * - `NotFound` (404). `FindingNotFound`: the upgrade's own word for that.
 * - `Conflict` with the current state (409); `reason` is the upgrade's own where it gave one.
 * - `Busy`: this process can take no more of that for now (503).
 * - `Throttled`: this caller has as much of that as one caller may (429).
 * - `TemporalUnreachable` on reads (500), because the specification gives them no 424.
 * - `Unanswered`: the Workflow that has to be asked does not answer; status as `TemporalUnreachable`.
 * - `TemporalNotSetUp`: Temporal answers, but its namespace is not what upgrades need; status as `TemporalUnreachable`.
 * - `PayloadKeyMissing`: what Temporal stores is encrypted with a key that is not there; status as `TemporalUnreachable`.
 * - `Unexpected`: anything unforeseen (500); `cause` goes to the log only.
 */
export type ServiceError =
  | { readonly _tag: "BadRequest"; readonly problems: readonly Problem[]; readonly unlisted: number }
  | { readonly _tag: "NotAllowed"; readonly problems: readonly Problem[] }
  | { readonly _tag: "FailedDependency"; readonly problems: readonly Problem[] }
  | { readonly _tag: "NotFound"; readonly resource: NamedResource; readonly id: string }
  | { readonly _tag: "FindingNotFound"; readonly reason: ErrorBody }
  | { readonly _tag: "Conflict"; readonly reason: ErrorBody }
  | { readonly _tag: "Busy"; readonly problem: Problem }
  | { readonly _tag: "Throttled"; readonly problem: Problem }
  | { readonly _tag: "TemporalUnreachable"; readonly cause: unknown }
  | { readonly _tag: "Unanswered"; readonly problem: Problem }
  | { readonly _tag: "TemporalNotSetUp"; readonly lacking: string }
  | { readonly _tag: "PayloadKeyMissing"; readonly keyId: string; readonly problem: string }
  | { readonly _tag: "Unexpected"; readonly cause: unknown };

type Problems = Problem | readonly Problem[];
const listed = (problems: Problems): readonly Problem[] => ("code" in problems ? [problems] : problems);

export const badRequest = (problems: Problems, unlisted = 0): ServiceError => ({
  _tag: "BadRequest",
  problems: listed(problems),
  unlisted,
});
export const notAllowed = (problems: Problems): ServiceError => ({ _tag: "NotAllowed", problems: listed(problems) });
export const failedDependency = (problems: Problems): ServiceError => ({
  _tag: "FailedDependency",
  problems: listed(problems),
});
export const notFound = (resource: NamedResource, id: string): ServiceError => ({
  _tag: "NotFound",
  resource,
  id,
});
export const findingNotFound = (reason: ErrorBody): ServiceError => ({ _tag: "FindingNotFound", reason });
export const conflict = (reason: ErrorBody): ServiceError => ({ _tag: "Conflict", reason });
export const busy = (problem: Problem): ServiceError => ({ _tag: "Busy", problem });
export const throttled = (problem: Problem): ServiceError => ({ _tag: "Throttled", problem });
export const temporalUnreachable = (cause: unknown): ServiceError => ({ _tag: "TemporalUnreachable", cause });
export const unanswered = (problem: Problem): ServiceError => ({ _tag: "Unanswered", problem });
/** `lacking` says in words what is not there. */
export const temporalNotSetUp = (lacking: string): ServiceError => ({ _tag: "TemporalNotSetUp", lacking });
/** `problem` says what is wrong with the key, after its name. */
export const payloadKeyMissing = (keyId: string, problem: string): ServiceError => ({
  _tag: "PayloadKeyMissing",
  keyId,
  problem,
});
export const unexpected = (cause: unknown): ServiceError => ({ _tag: "Unexpected", cause });
