import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import { endedAsAsked, endedRefusal, type Request } from "../domain/ended-upgrade";
import type { ErrorBody } from "../domain/error-body";
import type { Identities, RequestAnswer, UnansweredAnswer, UpgradeExecutions, UpgradeRequest } from "./ports";
import { badRequest, conflict, failedDependency, type ServiceError } from "./service-error";

export interface AskUpgradeDependencies {
  readonly executions: Pick<UpgradeExecutions, "request">;
  readonly identities: Pick<Identities, "newId">;
}

/** What an upgrade has accepted. `run`: which run of the prechecks it begins. */
export interface Accepted {
  readonly run?: number;
}

/** The longest name of a caller that is kept with a request, in UTF-16 units. */
const longestName = 255;

/**
 * Asks something of an upgrade and gives what it has accepted. A refusal is a Conflict with the upgrade's own reason,
 * or a BadRequest where the request is wrong whatever the state.
 */
export function askUpgrade({ executions, identities }: AskUpgradeDependencies) {
  return (id: string, request: UpgradeRequest, caller: string): TE.TaskEither<ServiceError, Accepted> =>
    pipe(
      executions.request(id, request, {
        requestId: identities.newId(),
        requestedBy: caller.slice(0, longestName),
      }),
      TE.chain((answer) => accepted(id, request.name, answer)),
    );
}

function accepted(id: string, request: Request, answer: RequestAnswer): TE.TaskEither<ServiceError, Accepted> {
  switch (answer._tag) {
    case "Unanswered":
      return TE.left(notYetApplied(id, request, answer));
    case "Ended":
      return answer.sent && endedAsAsked(request, answer.task)
        ? TE.right({})
        : TE.left(conflict(endedRefusal(request, answer.upgrade)));
    case "Judged": {
      const { outcome } = answer;
      if (!outcome.accepted) return TE.left(refusal(outcome.reason ?? unexplained(id, request)));
      return TE.right(outcome.run === undefined ? {} : { run: outcome.run });
    }
  }
}

/** A wrong request is the client's fault in any state; anything else is about the state that the upgrade is in. */
function refusal(reason: ErrorBody): ServiceError {
  if (reason.errorType !== "INVALID_INPUT") return conflict(reason);
  return badRequest({
    ...(reason.context?.["path"] !== undefined && { path: reason.context["path"] }),
    code: reason.errorCode ?? "INVALID_FIELD",
    message: reason.message,
    remediation: reason.remediationMessage ?? "Correct the request.",
  });
}

function unexplained(id: string, request: Request): ErrorBody {
  return {
    errorCode: "REQUEST_NOT_POSSIBLE",
    message: `Upgrade ${id} refuses ${request} in its present state.`,
    remediationMessage: "Read its Task to see where it stands.",
  };
}

/** The error of a request that Temporal has recorded and no worker has taken up in time. */
export function notYetApplied(id: string, request: Request, { blocked }: UnansweredAnswer): ServiceError {
  const recorded = `The request to ${request} upgrade ${id} is recorded, but not yet applied`;
  return failedDependency({
    code: "REQUEST_NOT_YET_APPLIED",
    message: blocked ? `${recorded}. ${blocked.message}` : `${recorded}: no worker has answered in time.`,
    remediation: blocked
      ? `Do not send it again: it is applied as soon as the Workflow continues. ${blocked.remediationMessage ?? ""}`
      : "Do not send it again: it is applied as soon as a worker runs. Read the upgrade to see when it is.",
  });
}
