import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { endedAsAsked, endedRefusal } from "../domain/ended-upgrade";
import { askUpgrade, notYetApplied, type AskUpgradeDependencies } from "./ask-upgrade";
import type { CancelAnswer, UpgradeExecutions } from "./ports";
import { conflict, type ServiceError } from "./service-error";

export interface CancelUpgradeDependencies extends AskUpgradeDependencies {
  readonly executions: Pick<UpgradeExecutions, "cancel" | "request">;
}

/** `GIVEN_UP`: it had failed and waited for a decision, which the cancellation was; it has ended as failed. */
export type Cancelled = "CANCELLED" | "GIVEN_UP";

/**
 * Cancels an upgrade; succeeds when it knows. A second cancellation of one that is on its way to its safe end succeeds
 * as well; one that has ended, also as cancelled, is a Conflict. One that has failed and waits for a decision is given up.
 */
export function cancelUpgrade(deps: CancelUpgradeDependencies) {
  return (id: string, caller: string): TE.TaskEither<ServiceError, Cancelled> =>
    pipe(
      deps.executions.cancel(id, caller),
      TE.chain((answer) =>
        answer._tag === "NotCancellable"
          ? pipe(
              askUpgrade(deps)(id, { name: "resolve" }, caller),
              TE.map((): Cancelled => "GIVEN_UP"),
            )
          : applied(id, answer),
      ),
    );
}

function applied(
  id: string,
  answer: Exclude<CancelAnswer, { _tag: "NotCancellable" }>,
): TE.TaskEither<ServiceError, Cancelled> {
  switch (answer._tag) {
    case "Applied":
      return TE.right("CANCELLED");
    case "Unanswered":
      return TE.left(notYetApplied(id, "cancel", answer));
    case "Ended":
      return answer.sent && endedAsAsked("cancel", answer.task)
        ? TE.right("CANCELLED")
        : TE.left(conflict(endedRefusal("cancel", answer.upgrade)));
  }
}
