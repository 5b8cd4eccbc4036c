import type { TaskEither } from "fp-ts/TaskEither";
import type { Task } from "../domain/task";
import type { PageOfUpgrade, Upgrade } from "../domain/upgrade";
import type { UpgradeSpec } from "../domain/upgrade-spec";
import type { PageRequest, UpgradeFilter } from "./ports";
import type { ServiceError } from "./service-error";
import type { TaskListener } from "./task-listener";

export interface StartRequest {
  readonly spec: UpgradeSpec;
  /** Who asks: the name that goes with the credentials. */
  readonly caller: string;
  readonly idempotencyKey?: string;
}

/** The use cases that the API offers; each is a file of this folder. */
export interface UpgradeService {
  startUpgrade(request: StartRequest): TaskEither<ServiceError, Task>;
  listUpgrades(filter: UpgradeFilter, page?: PageRequest): TaskEither<ServiceError, PageOfUpgrade>;
  getUpgrade(id: string): TaskEither<ServiceError, Upgrade>;
  getTask(id: string): TaskEither<ServiceError, Task>;
  /** Follows a Task; `lastEventId` names the last event that the listener has had of it. */
  watchTask(id: string, lastEventId?: string): TaskEither<ServiceError, TaskListener>;
  /** Ends all that goes on for a listener, so that the process can stop. */
  close(): void;
  /** Whether the service can do its work now. */
  checkReady(): TaskEither<ServiceError, void>;
}
