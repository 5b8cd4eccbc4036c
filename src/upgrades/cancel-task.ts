import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { endedAsAsked, endedRefusal } from "../domain/ended-upgrade";
import { hasTaskEnded } from "../domain/lost-upgrade";
import type { Task } from "../domain/task";
import { cancelUpgrade, type CancelUpgradeDependencies } from "./cancel-upgrade";
import type { UpgradeExecutions } from "./ports";
import { conflict, type ServiceError } from "./service-error";
import { forTask, upgradeOfTask } from "./upgrade-of-task";

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
