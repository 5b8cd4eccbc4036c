import type { Option } from "fp-ts/Option";
import type { Task as Effect } from "fp-ts/Task";
import type { TaskEither } from "fp-ts/TaskEither";
import type { ActivityRecord } from "../domain/activity/upgrade-activity";
import type { PlannedCheck } from "../domain/checks/own-check";
import type { ErrorBody } from "../domain/errors";
import type { Freeze } from "../domain/freeze";
import type { Hold, HoldTarget } from "../domain/hold";
import type { ManagerSilence } from "../domain/manager-silence";
import type { MaintenancePlace, Opening } from "../domain/opening";
import type { PlannedReceiver } from "../domain/notifications/upgrade-notification";
import type { PageRequest } from "../domain/page";
import type { ClusterEntryFacts, ClusterFacts, ClusterLookup, Installations } from "../domain/plan/facts";
import type { CommitSpec } from "../domain/plan/schedule";
import type { UpgradePlan } from "../domain/plan/upgrade-plan";
import type { ReadinessSchedule, StoredSchedule } from "../domain/readiness/readiness-spec";
import type { ReadinessPlan } from "../domain/readiness/readiness-task";
import type { AskedAcknowledgement } from "../domain/requests/acknowledge";
import type { HoldingUpgrade } from "../domain/resource-lock";
import type { RetryScope } from "../domain/requests/skip";
import type { RequestOutcome } from "../domain/requests/upgrade-request";
import type { Bundle, BundleType } from "../domain/spec/bundle";
import type { ClusterMember } from "../domain/spec/cluster";
import type { AcknowledgementSpec } from "../domain/spec/finding";
import type { PageOfTask, Task, TaskStatus } from "../domain/spec/task";
import type { PageOfUpgrade, PublishedPhase, Upgrade, UpgradeStatus } from "../domain/spec/upgrade";
import type { SkipSpec } from "../domain/spec/upgrade-spec";
import type { ClusterWork } from "../domain/upgrade/cluster-work";
import type { UpgradeCounts, UpgradeSort } from "../domain/upgrade/attention";
import type { ServiceError } from "./service-error";

/** Until when a call may take, in epoch milliseconds, where that is earlier than its own limit says. */
export type Deadline = number;

export interface UpgradeFilter {
  /** One of them. */
  readonly status?: readonly UpgradeStatus[];
  readonly phase?: readonly PublishedPhase[];
  /** Words that are all found in its names, its creator, or at the beginning of its id. */
  readonly search?: string;
  /** Id of its change record. */
  readonly changeId?: string;
  /** Labels as `name=value`, all of which it has. */
  readonly label?: readonly string[];
  readonly bundleId?: string;
  readonly bundleType?: BundleType;
  /** Of a cluster, NETVIRT instance or management server that the upgrade is about. */
  readonly resourceId?: string;
  /** Who created it, in upper or lower case. */
  readonly createdBy?: string;
  /** Created at this time or later. A Timestamp. */
  readonly createdSince?: string;
}

/** Which upgrades are listed, in which order; by attention where it does not say. */
export interface UpgradeListing extends UpgradeFilter {
  readonly sort?: UpgradeSort;
}

export interface TaskFilter {
  /** In any of the spellings of Spec 3. */
  readonly taskStatus?: TaskStatus;
  readonly resourceId?: string;
}

/** What is asked of a running upgrade by Signal. */
export type UpgradeRequest =
  | ({ readonly name: "commit" } & CommitSpec)
  | { readonly name: "approve"; readonly comment?: string }
  | { readonly name: "reject"; readonly comment: string }
  | ({ readonly name: "acknowledge"; readonly precheckId: string } & AcknowledgementSpec)
  | ({ readonly name: "skip"; readonly hostName?: string } & SkipSpec)
  | ({ readonly name: "retry"; readonly reason?: string } & RetryScope)
  | {
      readonly name: Exclude<
        RequestOutcome["request"],
        "commit" | "approve" | "reject" | "acknowledge" | "skip" | "retry"
      >;
    };

/** Under which id the outcome of a request is kept, and who asks. */
export interface RequestOrigin {
  readonly requestId: string;
  readonly requestedBy: string;
}

/** A request that was refused without the upgrade being asked. */
export type RefusedRequest = Omit<CommitSpec, "reason"> &
  AskedAcknowledgement & {
    readonly request: RequestOutcome["request"];
    readonly requestedBy: string;
    readonly comment?: string;
    readonly reason: ErrorBody;
  };

/** Who has an upgrade started, and the digest of a request that can be repeated. */
export interface StartOrigin extends Pick<RequestOrigin, "requestedBy"> {
  readonly requestDigest?: string;
}

/** The upgrade takes nothing any more. `sent`: it ended after the request had been recorded, before it could be asked. */
export interface EndedAnswer {
  readonly _tag: "Ended";
  readonly upgrade: Upgrade;
  /** Without hosts. */
  readonly task: Task;
  readonly sent: boolean;
}

/** The request is recorded for good; no worker has applied it within the time that a client is kept waiting. */
export interface UnansweredAnswer {
  readonly _tag: "Unanswered";
  /** Where it is because the upgrade's Workflow is blocked: what can be done about that. */
  readonly blocked?: ErrorBody;
}

export type RequestAnswer =
  { readonly _tag: "Judged"; readonly outcome: RequestOutcome } | EndedAnswer | UnansweredAnswer;

/** `Applied` also where it had been cancelled before and is still on its way; `NotCancellable`: its Task says so. */
export type CancelAnswer =
  { readonly _tag: "Applied" } | { readonly _tag: "NotCancellable" } | EndedAnswer | UnansweredAnswer;

/** `asOf`, a Timestamp: when it was known, where nothing answers now. */
export type ReadActivity =
  { readonly _tag: "Answered"; readonly record: ActivityRecord; readonly asOf?: string } | UnansweredAnswer;

/** The running and closed upgrades, which are Temporal Workflow executions. */
export interface UpgradeExecutions {
  /**
   * Starts the upgrade's Workflow. `DUPLICATE` where its id has been used before: nothing is started then.
   * `requestedBy` is kept beside it, and `requestDigest`, to recognise a repeated request.
   */
  start(plan: UpgradePlan, origin: StartOrigin, until?: Deadline): TaskEither<ServiceError, "STARTED" | "DUPLICATE">;
  /** The initial Task and request digest of an upgrade that was started before; none where the id is free. */
  findStarted(
    id: string,
    until?: Deadline,
  ): TaskEither<ServiceError, Option<{ task: Task; requestDigest: string | undefined }>>;
  list(listing: UpgradeListing, page?: PageRequest): TaskEither<ServiceError, PageOfUpgrade>;
  /** How many upgrades there are in each phase. May be some seconds old. */
  count(filter: UpgradeFilter): TaskEither<ServiceError, UpgradeCounts>;
  readUpgrade(id: string): TaskEither<ServiceError, Upgrade>;
  /** What an upgrade does, with the times that it has now. Needs no worker. */
  readPlan(id: string): TaskEither<ServiceError, UpgradePlan>;
  /**
   * How long these clusters, and others where one of them has none, took in their last upgrades that ended well; the latest first.
   * Nothing where Temporal does not tell within a second: a forecast can be missing.
   */
  readClusterWork(resourceIds: readonly string[]): Effect<readonly ClusterWork[]>;
  readTask(id: string): TaskEither<ServiceError, Task>;
  /** The same for people who look: while Temporal is busy, what was read shortly before, with `asOf`. */
  readTaskInTime(id: string): TaskEither<ServiceError, Task>;
  /** Tasks without their subTasks; from Visibility alone. */
  listTasks(filter: TaskFilter, page?: PageRequest): TaskEither<ServiceError, PageOfTask>;
  /**
   * Sends a request and waits, for a bounded time, for what the upgrade makes of it. What is read afterwards is not
   * older than that.
   */
  request(id: string, request: UpgradeRequest, origin: RequestOrigin): TaskEither<ServiceError, RequestAnswer>;
  /** Has the upgrade cancelled, and waits in the same way for it to know; its safe end may be far. */
  cancel(id: string, requestedBy: string): TaskEither<ServiceError, CancelAnswer>;
  /** Has a refusal kept in the upgrade's activity log, unless that would make its history too long. */
  recordRefusal(id: string, refused: RefusedRequest): Effect<void>;
  /** Who requested what of the upgrade, and what happened. */
  readActivity(id: string): TaskEither<ServiceError, ReadActivity>;
  /** The locks that the upgrade takes or must not find held by another one. */
  readLocks(id: string): TaskEither<ServiceError, readonly string[]>;
  /** The upgrade that holds each of the locks (domain/resource-lock.ts), of those that are held; of many only what is visible already. */
  lockHolders(
    locks: readonly string[],
    until?: Deadline,
  ): TaskEither<ServiceError, ReadonlyMap<string, HoldingUpgrade>>;
}

/** Emergency stops, which are Temporal Workflow executions. What is read is never older than the last change. */
export interface Freezes {
  /** Those that concern something of these domains, that of everything first. Fails where one cannot be read. */
  read(domains: readonly string[]): TaskEither<ServiceError, readonly Freeze[]>;
  /** In the place of the one that its domain, or everything, was frozen by before. */
  put(freeze: Freeze): TaskEither<ServiceError, void>;
  /** That of a domain, or of everything; succeeds also where there is none. */
  lift(domain: string | undefined, liftedBy: string): TaskEither<ServiceError, void>;
}

/** Holds, which are Temporal Workflow executions. */
export interface Holds {
  /** Those of these clusters and hosts, never older than the last change. Fails where one cannot be read. */
  read(targets: readonly HoldTarget[]): TaskEither<ServiceError, readonly Hold[]>;
  /** All of them; a change shows a moment after it. */
  list(): TaskEither<ServiceError, readonly Hold[]>;
  /** `replaces`: whether it may take the place of another; TAKEN where it may not, and there is one. */
  put(hold: Hold, how: { readonly replaces: boolean }): TaskEither<ServiceError, "PLACED" | "TAKEN">;
  /** Succeeds also where there is none. */
  release(target: HoldTarget, releasedBy: string): TaskEither<ServiceError, void>;
}

/** Readiness checks, which are Temporal Workflow executions, and their schedules, which are Temporal Schedules. */
export interface ReadinessChecks {
  /** REPEATED where the same request has started it before, OTHER where another one has. */
  start(
    plan: ReadinessPlan,
    origin: StartOrigin & { readonly id: string },
  ): TaskEither<ServiceError, "STARTED" | "REPEATED" | "OTHER">;
  /** Whether a request with this digest, or another one, has started it before. */
  findStarted(id: string, requestDigest: string): TaskEither<ServiceError, "NONE" | "REPEATED" | "OTHER">;
  read(id: string): TaskEither<ServiceError, Task>;
  /** Succeeds also where it has ended. */
  cancel(id: string): TaskEither<ServiceError, void>;
  /** Without their subTasks, the latest first; a change shows a moment after it. */
  list(page?: PageRequest): TaskEither<ServiceError, PageOfTask>;
  /** Succeeds also where it is there. A run that its time comes upon while the one before goes on is left out. */
  createSchedule(id: string, plan: ReadinessPlan, stored: StoredSchedule): TaskEither<ServiceError, void>;
  /** The oldest first; a change shows a moment after it. */
  listSchedules(): TaskEither<ServiceError, readonly ReadinessSchedule[]>;
  deleteSchedule(id: string): TaskEither<ServiceError, void>;
}

export interface BundleCatalog {
  find(bundleId: string): TaskEither<ServiceError, Option<Bundle>>;
  /** In the order of the catalog. */
  list(): TaskEither<ServiceError, readonly Bundle[]>;
}

/** A host or edge cluster as an upgrade coordinator lists it. */
export interface NetvirtGroupRead {
  readonly type: "HOST" | "EDGE";
  readonly id: string;
  readonly name: string;
}

export interface Inventory {
  /** One answer per id, in no order; a component manager that does not answer spoils only its own clusters. */
  readClusters(
    resourceIds: readonly string[],
    until?: Deadline,
  ): TaskEither<ServiceError, ReadonlyMap<string, ClusterLookup>>;
  /** Every cluster, in the order of the inventory. */
  readonly clusters: readonly ClusterEntryFacts[];
  /** The hosts of a cluster by their names. On the left: why its component manager did not tell. */
  readHosts(
    cluster: Pick<ClusterFacts, "resourceId" | "componentManagerId" | "cluster" | "kind">,
  ): TaskEither<ManagerSilence, readonly ClusterMember[]>;
  /** The host and edge clusters of a NETVIRT manager's upgrade coordinator. On the left as with {@link readHosts}. */
  readNetvirtGroups(componentManagerId: string): TaskEither<ManagerSilence, readonly NetvirtGroupRead[]>;
  /** Whether work may begin at all of these places now, or at another moment (epoch milliseconds). */
  openingOf(places: readonly MaintenancePlace[], at?: number): Opening;
  /** What it knows beside clusters. */
  readonly installations: Installations;
  /** Who is told what happens to upgrades; absent means nobody. */
  readonly notifications?: readonly PlannedReceiver[];
  /** Checks that upgrades ask. */
  readonly checks?: readonly PlannedCheck[];
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
