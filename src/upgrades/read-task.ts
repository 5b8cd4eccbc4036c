import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { precheckRunOf, precheckTask } from "../domain/precheck-task";
import type { Task } from "../domain/task";
import type { UpgradeExecutions } from "./ports";
import { notFound, type ServiceError } from "./service-error";

/** Reads a Task in full: that of an upgrade, or that of one run of its prechecks. */
export function readTask(executions: Pick<UpgradeExecutions, "readTask">) {
  return (taskId: string): TE.TaskEither<ServiceError, Task> => {
    const run = precheckRunOf(taskId);
    if (!run) return executions.readTask(taskId);
    return pipe(
      executions.readTask(run.upgradeId),
      TE.mapLeft((error) => (error._tag === "NotFound" ? notFound("task", taskId) : error)),
      TE.chain((task) => TE.fromNullable(notFound("task", taskId))(precheckTask(task, run.run))),
    );
  };
}
