import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import type { ErrorBody } from "../domain/error-body";
import type { Upgrade } from "../domain/upgrade";
import { isInThePast, saysWhen } from "../domain/upgrade-schedule";
import type { UpgradeUpdateSpec } from "../domain/upgrade-update";
import { askUpgrade } from "./ask-upgrade";
import { cancelUpgrade } from "./cancel-upgrade";
import type { Identities, UpgradeExecutions } from "./ports";
import { badRequest, conflict, type Problem, type ServiceError } from "./service-error";

export interface UpdateUpgradeDependencies {
  readonly executions: Pick<UpgradeExecutions, "request" | "cancel" | "readUpgrade" | "readLocks" | "lockHolders">;
  readonly identities: Pick<Identities, "newId" | "now">;
}

/**
 * Commits a draft, gives a scheduled upgrade another time, or cancels an upgrade; gives the Upgrade as it is then. A
 * draft is not committed while another upgrade visibly holds one of its resources.
 */
export function updateUpgrade(deps: UpdateUpgradeDependencies) {
  const { executions, identities } = deps;
  return (
    id: string,
    { markForCancellation, ...schedule }: UpgradeUpdateSpec,
    caller: string,
  ): TE.TaskEither<ServiceError, Upgrade> => {
    const readAfter = () => executions.readUpgrade(id);
    if (markForCancellation === true) {
      if (saysWhen(schedule)) return TE.left(badRequest(contradiction));
      return pipe(cancelUpgrade(deps)(id, caller), TE.chain(readAfter));
    }
    if (isInThePast(schedule, identities.now())) return TE.left(badRequest(inThePast(schedule.scheduledTimestamp)));
    return pipe(
      executions.readUpgrade(id),
      TE.chain(({ status }) => (status === "DRAFT" ? resourcesFree(executions, id) : TE.right(undefined))),
      TE.chain(() => askUpgrade(deps)(id, { name: "commit", ...schedule }, caller)),
      TE.chain(readAfter),
    );
  };
}

const contradiction: Problem = {
  path: "markForCancellation",
  code: "CANCELLATION_WITH_TIME",
  message: "markForCancellation: true cannot come with scheduledTimestamp or upgradeNow.",
  remediation: "Send markForCancellation alone to cancel, or only the time to commit.",
};

function inThePast(scheduledTimestamp = ""): Problem {
  return {
    path: "scheduledTimestamp",
    code: "SCHEDULE_IN_THE_PAST",
    message: `scheduledTimestamp: ${scheduledTimestamp} has passed.`,
    remediation: "Give a time that lies ahead, or upgradeNow true.",
  };
}

/** A courtesy, as with the start: the locks themselves decide. So where Temporal cannot tell, nothing is refused. */
function resourcesFree(
  executions: Pick<UpgradeExecutions, "readLocks" | "lockHolders">,
  id: string,
): TE.TaskEither<ServiceError, void> {
  return pipe(
    executions.readLocks(id),
    TE.chain((locks) => executions.lockHolders(locks)),
    TE.orElse(() => TE.right<ServiceError, ReadonlyMap<string, string>>(new Map())),
    TE.chain((holders) => {
      const held = [...holders].filter(([, holder]) => holder !== id);
      return held.length === 0 ? TE.right(undefined) : TE.left(conflict(locked(held)));
    }),
  );
}

function locked(held: readonly (readonly [lock: string, holder: string])[]): ErrorBody {
  const [[lock, holder] = ["", ""]] = held;
  return {
    errorCode: "RESOURCE_LOCKED",
    message: `${lock} is held by upgrade ${holder}, so the draft cannot be committed now.`,
    remediationMessage: `Wait until upgrade ${holder} has ended, or cancel it; then commit again.`,
    arguments: [...new Set(held.map(([, one]) => one))],
    context: { holder, resource: lock },
  };
}
