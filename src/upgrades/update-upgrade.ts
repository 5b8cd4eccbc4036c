import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import type { ErrorBody } from "../domain/error-body";
import type { Upgrade } from "../domain/upgrade";
import { hasSwitchedOver, switchoverBegun } from "../domain/switchover";
import { commits, isInThePast, lacksTime } from "../domain/upgrade-schedule";
import type { UpgradeUpdateSpec } from "../domain/upgrade-update";
import { askUpgrade } from "./ask-upgrade";
import { cancelUpgrade } from "./cancel-upgrade";
import type { Identities, UpgradeExecutions } from "./ports";
import { badRequest, conflict, type Problem, type ServiceError } from "./service-error";

export interface UpdateUpgradeDependencies {
  readonly executions: Pick<
    UpgradeExecutions,
    "request" | "cancel" | "readUpgrade" | "readTask" | "readLocks" | "lockHolders"
  >;
  readonly identities: Pick<Identities, "newId" | "now">;
}

/**
 * Commits a draft, gives a scheduled upgrade or a switchover another time, or cancels an upgrade; gives the Upgrade as it
 * is then. A draft is not committed while another upgrade visibly holds one of its resources.
 */
export function updateUpgrade(deps: UpdateUpgradeDependencies) {
  const { executions, identities } = deps;
  return (
    id: string,
    { markForCancellation, ...commit }: UpgradeUpdateSpec,
    caller: string,
  ): TE.TaskEither<ServiceError, Upgrade> => {
    const readAfter = () => executions.readUpgrade(id);
    if (markForCancellation === true) return pipe(cancelUpgrade(deps)(id, caller), TE.chain(readAfter));
    if (isInThePast(commit, identities.now())) return TE.left(badRequest(inThePast(commit.scheduledTimestamp)));
    if (lacksTime(commit)) return TE.left(badRequest(timeMissing));
    return pipe(
      executions.readUpgrade(id),
      TE.chain(({ status }) => {
        if (commits(commit)) return status === "DRAFT" ? resourcesFree(executions, id) : TE.right(undefined);
        return status === "INPROGRESS" || status === "PAUSED"
          ? switchoversAhead(executions, id, commit)
          : TE.right(undefined);
      }),
      TE.chain(() => askUpgrade(deps)(id, { name: "commit", ...commit }, caller)),
      TE.chain(readAfter),
    );
  };
}

/** Only the Workflow of a server knows whether its switchover has begun, and the Task shows it. */
function switchoversAhead(
  executions: Pick<UpgradeExecutions, "readTask">,
  id: string,
  { mgmtUpgradePatchSpecs = [] }: UpgradeUpdateSpec,
): TE.TaskEither<ServiceError, void> {
  return pipe(
    executions.readTask(id),
    TE.chain((task) => {
      const begun = mgmtUpgradePatchSpecs.find(({ resourceId }) => hasSwitchedOver(task, resourceId));
      return begun ? TE.left(conflict(switchoverBegun(begun.resourceId))) : TE.right(undefined);
    }),
  );
}

const timeMissing: Problem = {
  path: "upgradeNow",
  code: "SCHEDULE_MISSING",
  message: "upgradeNow is false, and there is no scheduledTimestamp that says when to begin.",
  remediation: "Add a scheduledTimestamp, or leave upgradeNow out to commit as it is.",
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
