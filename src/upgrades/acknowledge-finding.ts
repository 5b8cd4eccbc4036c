import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import type { AcknowledgementSpec } from "../domain/spec/finding";
import type { Task } from "../domain/spec/task";
import { type RunPrechecksDependencies, sendUpgradeRequest } from "./control-upgrade";
import { readPrechecks } from "./read-upgrades";
import type { ServiceError } from "./service-error";

/** Acknowledges a finding of a run of the prechecks in somebody's name; gives the Task of that run as it is then. */
export function acknowledgeFinding(deps: RunPrechecksDependencies) {
  const read = readPrechecks(deps.executions);
  return (
    id: string,
    precheckId: string,
    spec: AcknowledgementSpec,
    caller: string,
  ): TE.TaskEither<ServiceError, Task> =>
    pipe(
      read(id, precheckId),
      TE.chain(() => sendUpgradeRequest(deps)(id, { name: "acknowledge", precheckId, ...spec }, caller)),
      TE.chain(() => read(id, precheckId)),
    );
}
