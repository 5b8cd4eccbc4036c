import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { precheckTask } from "../domain/precheck-task";
import type { Task } from "../domain/task";
import { askUpgrade, notYetApplied, type AskUpgradeDependencies } from "./ask-upgrade";
import type { UpgradeExecutions } from "./ports";
import type { ServiceError } from "./service-error";

export interface RunPrechecksDependencies extends AskUpgradeDependencies {
  readonly executions: Pick<UpgradeExecutions, "request" | "readTask">;
}

/** Runs the prechecks of a draft again; gives the Task of that run, which has begun. */
export function runPrechecks(deps: RunPrechecksDependencies) {
  return (id: string, caller: string): TE.TaskEither<ServiceError, Task> =>
    pipe(
      askUpgrade(deps)(id, { name: "prechecks" }, caller),
      TE.bindTo("accepted"),
      TE.bind("task", () => deps.executions.readTask(id)),
      TE.chain(({ accepted: { run }, task }) =>
        // Accepted, and the worker that did so is gone before it could show the run.
        TE.fromNullable(notYetApplied(id, "prechecks", { _tag: "Unanswered" }))(
          run === undefined ? undefined : precheckTask(task, run),
        ),
      ),
    );
}
