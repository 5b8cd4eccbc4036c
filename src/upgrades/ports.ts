import type { Option } from "fp-ts/Option";
import type { TaskEither } from "fp-ts/TaskEither";
import type { Bundle, BundleType } from "../domain/bundle";
import type { Task } from "../domain/task";
import type { PageOfUpgrade, Upgrade } from "../domain/upgrade";
import type { ClusterLookup } from "../domain/cluster-facts";
import type { Installations } from "../domain/installations";
import type { UpgradePlan } from "../domain/upgrade-plan";
import type { UpgradeStatus } from "../domain/upgrade-status";
import type { ServiceError } from "./service-error";

export interface UpgradeFilter {
  readonly status?: UpgradeStatus;
  readonly bundleId?: string;
  readonly bundleType?: BundleType;
}

/** `pageNumber` counts from 0. Without a page, all matches up to 1,000 (docs/spec-gaps.md, paging). */
export interface PageRequest {
  readonly pageNumber: number;
  readonly pageSize: number;
}

/** The running and closed upgrades, which are Temporal Workflow executions. */
export interface UpgradeExecutions {
  /**
   * Starts the upgrade's Workflow. `DUPLICATE` where its id has been used before: nothing is started then.
   * `requestDigest` is kept beside it, to recognise a repeated request.
   */
  start(plan: UpgradePlan, requestDigest?: string): TaskEither<ServiceError, "STARTED" | "DUPLICATE">;
  /** The initial Task and request digest of an upgrade that was started before; none where the id is free. */
  findStarted(id: string): TaskEither<ServiceError, Option<{ task: Task; requestDigest: string | undefined }>>;
  list(filter: UpgradeFilter, page?: PageRequest): TaskEither<ServiceError, PageOfUpgrade>;
  readUpgrade(id: string): TaskEither<ServiceError, Upgrade>;
  readTask(id: string): TaskEither<ServiceError, Task>;
  /** The upgrade that holds each of the locks (domain/resource-lock.ts), for those that are already visible as held. */
  lockHolders(locks: readonly string[]): TaskEither<ServiceError, ReadonlyMap<string, string>>;
}

export interface BundleCatalog {
  find(bundleId: string): TaskEither<ServiceError, Option<Bundle>>;
}

export interface Inventory {
  /** One answer per id, in no order; a component manager that does not answer spoils only its own clusters. */
  readClusters(resourceIds: readonly string[]): TaskEither<ServiceError, ReadonlyMap<string, ClusterLookup>>;
  /** What it knows beside clusters. */
  readonly installations: Installations;
}

/** The sources of what pure code cannot make: time, identities and digests. */
export interface Identities {
  /** Epoch milliseconds. */
  now(): number;
  /** A new random UUID. */
  newId(): string;
  /** The UUIDv5 of a caller's Idempotency-Key: the same for the same two. */
  idFor(caller: string, idempotencyKey: string): string;
  /** A digest of a request's canonical JSON. */
  digest(value: unknown): string;
}

/** Time that passes, so that tests decide when it does. */
export interface Timers {
  /** Calls `run` once, after this many milliseconds, unless the function that it returns is called before. */
  after(milliseconds: number, run: () => void): () => void;
}
