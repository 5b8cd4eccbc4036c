import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import type { Task } from "../domain/task";
import { askUpgrade, type AskUpgradeDependencies } from "./ask-upgrade";
import type { UpgradeExecutions } from "./ports";
import type { ServiceError } from "./service-error";
import { forTask, upgradeOfTask } from "./upgrade-of-task";

export interface RetryTaskDependencies extends AskUpgradeDependencies {
  readonly executions: Pick<UpgradeExecutions, "request" | "readTask">;
}

/** Tries a failed upgrade again, under the same id; gives its Task as it is then. */
export function retryTask(deps: RetryTaskDependencies) {
  return (taskId: string, caller: string): TE.TaskEither<ServiceError, Task> =>
    pipe(
      upgradeOfTask(deps.executions, taskId, "retry"),
      TE.chain((id) => forTask(id, askUpgrade(deps)(id, { name: "retry" }, caller))),
      TE.chain(() => deps.executions.readTask(taskId)),
    );
}
