import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import { endedAsAsked, endedRefusal } from "../domain/requests/published-upgrade";
import type { Task } from "../domain/spec/task";
import { hasTaskEnded } from "../domain/task/lost-upgrade";
import { precheckRunOf } from "../domain/task/prechecks";
import {
  sendUpgradeRequest,
  type SendRequestDependencies,
  cancelUpgrade,
  type CancelUpgradeDependencies,
} from "./control-upgrade";
import type { UpgradeExecutions } from "./ports";
import { readTask } from "./read-upgrades";
import { conflict, notFound, type ServiceError } from "./service-error";

export interface CancelTaskDependencies extends CancelUpgradeDependencies {
  readonly executions: Pick<UpgradeExecutions, "cancel" | "request" | "readTask" | "readUpgrade">;
}

/** Cancels the upgrade that a Task carries; gives the Task as it is then. */
export function cancelTask(deps: CancelTaskDependencies) {
  return (taskId: string, caller: string): TE.TaskEither<ServiceError, Task> =>
    pipe(
      upgradeOfTask(deps.executions, taskId, "cancel"),
      TE.chain((id) => forTask(id, cancelUpgrade(deps)(id, caller))),
      TE.chain((cancelled) =>
        pipe(
          deps.executions.readTask(taskId),
          // It may have ended in another way before the cancellation reached it.
          TE.chain((task) =>
            cancelled === "GIVEN_UP" || !hasTaskEnded(task) || endedAsAsked("cancel", task)
              ? TE.right(task)
              : tooLate(deps, task),
          ),
        ),
      ),
    );
}

/** A refusal tells the status of the upgrade, as those of all other requests do. */
function tooLate({ executions }: CancelTaskDependencies, { id }: Task): TE.TaskEither<ServiceError, Task> {
  return pipe(
    executions.readUpgrade(id),
    TE.chain((upgrade) => TE.left(conflict(endedRefusal("cancel", upgrade)))),
  );
}

export interface RetryTaskDependencies extends SendRequestDependencies {
  readonly executions: Pick<UpgradeExecutions, "request" | "readTask">;
}

/** Tries a failed upgrade again, under the same id; gives its Task as it is then. */
export function retryTask(deps: RetryTaskDependencies) {
  return (taskId: string, caller: string): TE.TaskEither<ServiceError, Task> =>
    pipe(
      upgradeOfTask(deps.executions, taskId, "retry"),
      TE.chain((id) => forTask(id, sendUpgradeRequest(deps)(id, { name: "retry" }, caller))),
      TE.chain(() => deps.executions.readTask(taskId)),
    );
}

/** The upgrade whose Task has this id. The Task of a precheck run can only be read: a Conflict, if there is one. */
function upgradeOfTask(
  executions: Pick<UpgradeExecutions, "readTask">,
  taskId: string,
  request: "cancel" | "retry",
): TE.TaskEither<ServiceError, string> {
  const run = precheckRunOf(taskId);
  if (!run) return TE.right(taskId);
  return pipe(
    readTask(executions)(taskId),
    TE.chain(({ status }) =>
      TE.left(
        conflict({
          errorCode: "REQUEST_NOT_POSSIBLE",
          message: `A precheck run cannot be sent ${request}; only the Task of its upgrade can.`,
          remediationMessage:
            request === "retry"
              ? `Run the prechecks again with POST /v1/upgrades/${run.upgradeId}/prechecks.`
              : `Cancel the upgrade with DELETE /v1/tasks/${run.upgradeId}.`,
          context: { status },
        }),
      ),
    ),
  );
}

/** Says of a Task what was said of its upgrade: that it is not there. */
function forTask<A>(id: string, work: TE.TaskEither<ServiceError, A>): TE.TaskEither<ServiceError, A> {
  return pipe(
    work,
    TE.mapLeft((error) => (error._tag === "NotFound" ? notFound("task", id) : error)),
  );
}
