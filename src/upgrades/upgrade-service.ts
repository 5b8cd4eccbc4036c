import type { TaskEither } from "fp-ts/TaskEither";
import type { PageOfActivity } from "../domain/activity/upgrade-activity";
import type { ErrorBody } from "../domain/errors";
import type { FreezeSpec, FreezeStatus } from "../domain/freeze";
import type { Hold, HoldSpec, HoldTarget, PageOfHold } from "../domain/hold";
import type { PageRequest } from "../domain/page";
import type { UpgradePreview } from "../domain/plan/preview";
import type { PageOfReadinessSchedule, ReadinessSpec } from "../domain/readiness/readiness-spec";
import type { Bundle, PageOfBundle } from "../domain/spec/bundle";
import type { Cluster, PageOfCluster } from "../domain/spec/cluster";
import type {
  PageOfIso,
  PageOfManagementServer,
  PageOfNetvirtInstance,
  PageOfPersonality,
} from "../domain/spec/installations";
import type { AcknowledgementSpec } from "../domain/spec/finding";
import type { RequestWarning } from "../domain/spec/request-warning";
import type { PageOfTask, Task } from "../domain/spec/task";
import type { PageOfUpgrade, Upgrade } from "../domain/spec/upgrade";
import type { UpgradeCounts } from "../domain/upgrade/attention";
import type { RetrySpec, SkipSpec, UpgradeSpec, UpgradeUpdateSpec } from "../domain/spec/upgrade-spec";
import type { ApprovalDecision } from "./control-upgrade";
import type { TaskFilter, UpgradeFilter, UpgradeListing } from "./ports";
import type { HoldCaller } from "./holds";
import type { ServiceError } from "./service-error";
import type { TaskListener } from "./task-history";
import type { Follower } from "./watch-task";

export interface StartRequest {
  readonly spec: UpgradeSpec;
  /** Who asks: the name that goes with the credentials. */
  readonly caller: string;
  readonly idempotencyKey?: string;
  /** What was ignored of the request before. */
  readonly warnings?: readonly RequestWarning[];
}

/** Who asks for a readiness check of what. */
export interface ReadinessRequest {
  readonly spec: ReadinessSpec;
  readonly caller: string;
  readonly idempotencyKey?: string;
}

/** The use cases that the API offers; each is a file of this folder. `caller` is who asks, as in a StartRequest. */
export interface UpgradeService {
  startUpgrade(request: StartRequest): TaskEither<ServiceError, Task>;
  previewUpgrade(spec: UpgradeSpec, warnings?: readonly RequestWarning[]): TaskEither<ServiceError, UpgradePreview>;
  listUpgrades(listing: UpgradeListing, page?: PageRequest): TaskEither<ServiceError, PageOfUpgrade>;
  countUpgrades(filter: UpgradeFilter): TaskEither<ServiceError, UpgradeCounts>;
  getUpgrade(id: string): TaskEither<ServiceError, Upgrade>;
  readRequest(id: string): TaskEither<ServiceError, UpgradeSpec>;
  readPlan(id: string): TaskEither<ServiceError, UpgradePreview>;
  readActivity(id: string, page?: PageRequest): TaskEither<ServiceError, PageOfActivity>;
  updateUpgrade(id: string, update: UpgradeUpdateSpec, caller: string): TaskEither<ServiceError, Upgrade>;
  controlUpgrade(
    id: string,
    request: "pause" | "resume" | "resolve",
    caller: string,
  ): TaskEither<ServiceError, Upgrade>;
  decideApproval(id: string, decision: ApprovalDecision, caller: string): TaskEither<ServiceError, Upgrade>;
  skipPart(id: string, spec: SkipSpec, caller: string): TaskEither<ServiceError, Upgrade>;
  retryParts(id: string, spec: RetrySpec, caller: string): TaskEither<ServiceError, Upgrade>;
  runPrechecks(id: string, caller: string): TaskEither<ServiceError, Task>;
  acknowledgeFinding(
    id: string,
    precheckId: string,
    spec: AcknowledgementSpec,
    caller: string,
  ): TaskEither<ServiceError, Task>;
  readPrechecks(id: string, precheckId: string): TaskEither<ServiceError, Task>;
  listTasks(filter: TaskFilter, page?: PageRequest): TaskEither<ServiceError, PageOfTask>;
  getTask(id: string): TaskEither<ServiceError, Task>;
  retryTask(id: string, caller: string): TaskEither<ServiceError, Task>;
  cancelTask(id: string, caller: string): TaskEither<ServiceError, Task>;
  listBundles(page?: PageRequest): TaskEither<ServiceError, PageOfBundle>;
  readBundle(id: string): TaskEither<ServiceError, Bundle>;
  listClusters(page?: PageRequest): TaskEither<ServiceError, PageOfCluster>;
  listNetvirt(page?: PageRequest): TaskEither<ServiceError, PageOfNetvirtInstance>;
  listManagementServers(page?: PageRequest): TaskEither<ServiceError, PageOfManagementServer>;
  listPersonalities(page?: PageRequest): TaskEither<ServiceError, PageOfPersonality>;
  listIsos(page?: PageRequest): TaskEither<ServiceError, PageOfIso>;
  readCluster(id: string): TaskEither<ServiceError, Cluster>;
  putFreeze(spec: FreezeSpec, caller: string): TaskEither<ServiceError, FreezeStatus>;
  readFreeze(): TaskEither<ServiceError, FreezeStatus>;
  liftFreeze(domain: string | undefined, caller: string): TaskEither<ServiceError, FreezeStatus>;
  putHold(target: HoldTarget, spec: HoldSpec, by: HoldCaller): TaskEither<ServiceError, Hold>;
  releaseHold(target: HoldTarget, by: HoldCaller): TaskEither<ServiceError, void>;
  listHolds(page?: PageRequest): TaskEither<ServiceError, PageOfHold>;
  startReadiness(request: ReadinessRequest): TaskEither<ServiceError, Task>;
  listReadiness(page?: PageRequest): TaskEither<ServiceError, PageOfTask>;
  listReadinessSchedules(page?: PageRequest): TaskEither<ServiceError, PageOfReadinessSchedule>;
  deleteReadinessSchedule(id: string): TaskEither<ServiceError, void>;
  /** Follows a Task; `lastEventId` names the last event that the listener has had of it. */
  watchTask(id: string, follower: Follower): TaskEither<ServiceError, TaskListener>;
  /** Ends all that goes on for a listener, so that the process can stop. */
  close(): void;
  /** Whether the service can do its work now; the problems of one that can do it, but not for every upgrade. */
  checkReady(): TaskEither<ServiceError, readonly ErrorBody[]>;
}
