import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { precheckRunOf, precheckTask } from "../domain/precheck-task";
import type { Task } from "../domain/task";
import type { UpgradeExecutions } from "./ports";
import { notFound, type ServiceError } from "./service-error";

/** Reads one run of an upgrade's prechecks. `precheckId` is the id of its Task. */
export function readPrechecks(executions: Pick<UpgradeExecutions, "readTask">) {
  return (id: string, precheckId: string): TE.TaskEither<ServiceError, Task> => {
    const found = precheckRunOf(precheckId);
    const missing = notFound("precheck", precheckId);
    return pipe(
      executions.readTask(id),
      TE.mapLeft((error) => (error._tag === "NotFound" ? notFound("upgrade", id) : error)),
      TE.chain((task) => TE.fromNullable(missing)(found?.upgradeId === id ? precheckTask(task, found.run) : undefined)),
    );
  };
}
