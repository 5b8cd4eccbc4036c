import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { precheckTask } from "../domain/precheck-task";
import type { Task } from "../domain/task";
import { askUpgrade, type AskUpgradeDependencies } from "./ask-upgrade";
import type { UpgradeExecutions } from "./ports";
import { unexpected, type ServiceError } from "./service-error";

export interface RunPrechecksDependencies extends AskUpgradeDependencies {
  readonly executions: Pick<UpgradeExecutions, "request" | "readTaskAnew">;
}

/** Runs the prechecks of a draft again; gives the Task of that run, which has begun. */
export function runPrechecks(deps: RunPrechecksDependencies) {
  return (id: string, caller: string): TE.TaskEither<ServiceError, Task> =>
    pipe(
      askUpgrade(deps)(id, { name: "prechecks" }, caller),
      TE.bindTo("accepted"),
      TE.bind("task", () => deps.executions.readTaskAnew(id)),
      TE.chain(({ accepted: { run }, task }) =>
        TE.fromNullable(unexpected(new Error(`Upgrade ${id} has accepted prechecks and does not show the run ${run}`)))(
          run === undefined ? undefined : precheckTask(task, run),
        ),
      ),
    );
}
