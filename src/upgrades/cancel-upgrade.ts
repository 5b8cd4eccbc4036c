import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { endedAsAsked, endedRefusal } from "../domain/ended-upgrade";
import { notYetApplied } from "./ask-upgrade";
import type { CancelAnswer, UpgradeExecutions } from "./ports";
import { conflict, type ServiceError } from "./service-error";

export interface CancelUpgradeDependencies {
  readonly executions: Pick<UpgradeExecutions, "cancel">;
}

/**
 * Cancels an upgrade; succeeds when it knows. A second cancellation of one that is on its way to its safe end succeeds
 * as well; one that has ended, also as cancelled, is a Conflict.
 */
export function cancelUpgrade({ executions }: CancelUpgradeDependencies) {
  return (id: string, caller: string): TE.TaskEither<ServiceError, void> =>
    pipe(
      executions.cancel(id, caller),
      TE.chain((answer) => applied(id, answer)),
    );
}

function applied(id: string, answer: CancelAnswer): TE.TaskEither<ServiceError, void> {
  switch (answer._tag) {
    case "Applied":
      return TE.right(undefined);
    case "Unanswered":
      return TE.left(notYetApplied(id, "cancel", answer));
    case "Ended":
      return answer.sent && endedAsAsked("cancel", answer.task)
        ? TE.right(undefined)
        : TE.left(conflict(endedRefusal("cancel", answer.upgrade)));
    case "NotCancellable":
      return TE.left(
        conflict({
          errorCode: "REQUEST_NOT_POSSIBLE",
          message: `Upgrade ${id} has failed and waits for a decision; there is nothing to cancel.`,
          remediationMessage: "Give it up with POST /v1/upgrades/{id}/resolve, or retry its Task.",
          context: { status: "COMPLETED_WITH_FAILURE" },
        }),
      );
  }
}
