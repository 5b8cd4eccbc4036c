import type { TaskStatus } from "../domain/task";
import type { ServiceError } from "./service-error";
import type { TaskStep } from "./task-history";

/**
 * What a listener of a Task is told. A SNAPSHOT can come at any time and replaces all that was known.
 *
 * - `UNAVAILABLE`: the Task cannot be read for now; the listener goes on, and `AVAILABLE` says that it can again.
 * - `END`: the Task has ended; nothing comes after it. `id` as in the last step.
 * - `QUIET`: nothing has happened for a time.
 */
export type TaskEvent =
  | TaskStep
  | { readonly type: "UNAVAILABLE"; readonly error: ServiceError }
  | { readonly type: "AVAILABLE" }
  | { readonly type: "END"; readonly status: TaskStatus }
  | { readonly type: "QUIET" };

/** Somebody who follows a Task at a pace of their own. */
export interface TaskListener {
  readonly taskId: string;
  /** The next event, as soon as there is one; undefined after the last. Asked again only when it has answered. */
  next(): Promise<TaskEvent | undefined>;
  /** Ends it, also while it waits. Has to be called by whoever does not read to the end. */
  leave(): void;
}
