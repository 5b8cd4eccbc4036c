import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { precheckRunOf } from "../domain/precheck-task";
import type { UpgradeExecutions } from "./ports";
import { readTask } from "./read-task";
import { conflict, notFound, type ServiceError } from "./service-error";

/** The upgrade whose Task has this id. The Task of a precheck run can only be read: a Conflict, if there is one. */
export function upgradeOfTask(
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
export function forTask<A>(id: string, work: TE.TaskEither<ServiceError, A>): TE.TaskEither<ServiceError, A> {
  return pipe(
    work,
    TE.mapLeft((error) => (error._tag === "NotFound" ? notFound("task", id) : error)),
  );
}
