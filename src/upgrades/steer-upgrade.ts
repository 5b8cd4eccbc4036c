import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import type { Upgrade } from "../domain/upgrade";
import { askUpgrade, type AskUpgradeDependencies } from "./ask-upgrade";
import type { UpgradeExecutions } from "./ports";
import type { ServiceError } from "./service-error";

export interface SteerUpgradeDependencies extends AskUpgradeDependencies {
  readonly executions: Pick<UpgradeExecutions, "request" | "readUpgrade">;
}

/** Pauses, resumes or gives up an upgrade; gives the Upgrade as it is then. */
export function steerUpgrade(deps: SteerUpgradeDependencies) {
  return (id: string, name: "pause" | "resume" | "resolve", caller: string): TE.TaskEither<ServiceError, Upgrade> =>
    pipe(
      askUpgrade(deps)(id, { name }, caller),
      TE.chain(() => deps.executions.readUpgrade(id)),
    );
}
