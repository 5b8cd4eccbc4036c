import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import type { ErrorBody } from "../domain/errors";
import { commitOverrideProblem } from "../domain/plan/maintenance-override";
import {
  commits,
  hasSwitchedOver,
  locksLater,
  saysWhen,
  scheduleProblem,
  switchoverBegun,
} from "../domain/plan/schedule";
import { resourcesOf } from "../domain/plan/upgrade-plan";
import { endedAsAsked, endedRefusal, type Request } from "../domain/requests/published-upgrade";
import { type HoldingUpgrade, holderTitle, lockTitle } from "../domain/resource-lock";
import type { Task } from "../domain/spec/task";
import type { Upgrade } from "../domain/spec/upgrade";
import type { UpgradeUpdateSpec } from "../domain/spec/upgrade-spec";
import { precheckTask } from "../domain/task/prechecks";
import { whyClosed } from "./freeze";
import { findHeldClusters, heldProblem } from "./holds";
import type {
  CancelAnswer,
  Freezes,
  Holds,
  Identities,
  RequestAnswer,
  Timers,
  UnansweredAnswer,
  UpgradeExecutions,
  UpgradeRequest,
} from "./ports";
import {
  badRequest,
  conflict,
  failedDependency,
  findingNotFound,
  notAllowed,
  type ServiceError,
} from "./service-error";

/** An approver's word on an upgrade. */
export type ApprovalDecision = Extract<UpgradeRequest, { readonly name: "approve" | "reject" }>;

export interface SendRequestDependencies {
  readonly executions: Pick<UpgradeExecutions, "request">;
  readonly identities: Pick<Identities, "newId">;
}

/** What an upgrade has accepted. `run`: which run of the prechecks it begins. */
export interface Accepted {
  readonly run?: number;
}

/** The name of a caller as it is kept with a request. */
function nameOf(caller: string): string {
  return caller.slice(0, 255);
}

/**
 * Asks something of an upgrade and gives what it has accepted. A refusal is a Conflict with the upgrade's own reason,
 * or a BadRequest where the request is wrong whatever the state.
 */
export function sendUpgradeRequest({ executions, identities }: SendRequestDependencies) {
  return (id: string, request: UpgradeRequest, caller: string): TE.TaskEither<ServiceError, Accepted> =>
    pipe(
      executions.request(id, request, {
        requestId: identities.newId(),
        requestedBy: nameOf(caller),
      }),
      TE.chain((answer) => accepted(id, request, answer)),
    );
}

function accepted(id: string, asked: UpgradeRequest, answer: RequestAnswer): TE.TaskEither<ServiceError, Accepted> {
  const { name: request } = asked;
  switch (answer._tag) {
    case "Unanswered":
      return TE.left(notYetApplied(id, request, answer));
    case "Ended":
      return answer.sent && (endedAsAsked(request, answer.task) || isLeftOut(asked, answer.upgrade))
        ? TE.right({})
        : TE.left(conflict(endedRefusal(request, answer.upgrade)));
    case "Judged": {
      const { outcome } = answer;
      if (!outcome.accepted) return TE.left(refusal(outcome.reason ?? unexplained(id, request)));
      return TE.right(outcome.run === undefined ? {} : { run: outcome.run });
    }
  }
}

/** Whether an upgrade leaves out what was to be left out: without the last of what it had to do it ends at once. */
function isLeftOut(asked: UpgradeRequest, { leftOut = [] }: Upgrade): boolean {
  if (asked.name !== "skip") return false;
  return leftOut.some(({ resourceId, hostId }) => resourceId === asked.resourceId && hostId === asked.hostId);
}

/** A wrong request is the client's fault in any state, as is one of somebody who must not send it; anything else is about the state that the upgrade is in. */
function refusal(reason: ErrorBody): ServiceError {
  if (reason.errorType === "NOT_FOUND") return findingNotFound(reason);
  if (reason.errorType !== "INVALID_INPUT" && reason.errorType !== "NOT_ALLOWED") return conflict(reason);
  const problem = {
    ...(reason.context?.["path"] !== undefined && { path: reason.context["path"] }),
    code: reason.errorCode ?? "INVALID_FIELD",
    message: reason.message,
    remediation: reason.remediationMessage ?? "Correct the request.",
  };
  return reason.errorType === "INVALID_INPUT" ? badRequest(problem) : notAllowed(problem);
}

function unexplained(id: string, request: Request): ErrorBody {
  return {
    errorCode: "REQUEST_NOT_POSSIBLE",
    message: `Upgrade ${id} refuses ${request} in its current state.`,
    remediationMessage: "Read its Task for its state.",
  };
}

/** The error of a request that Temporal has recorded and no worker has taken up in time. */
function notYetApplied(id: string, request: Request, { blocked }: UnansweredAnswer): ServiceError {
  const recorded = `The request to ${request} upgrade ${id} is recorded, but not yet applied`;
  return failedDependency({
    code: "REQUEST_NOT_YET_APPLIED",
    message: blocked ? `${recorded}. ${blocked.message}` : `${recorded}: no worker answered in time.`,
    remediation: blocked
      ? `Do not send it again: it applies as soon as the Workflow continues. ${blocked.remediationMessage ?? ""}`
      : "Do not send it again: it applies as soon as a worker runs. Read the upgrade to see the result.",
  });
}

export interface ControlUpgradeDependencies extends SendRequestDependencies {
  readonly executions: Pick<UpgradeExecutions, "request" | "readUpgrade">;
}

/** Pauses, resumes or gives up an upgrade; gives the Upgrade as it is then. */
export function controlUpgrade(deps: ControlUpgradeDependencies) {
  return (id: string, name: "pause" | "resume" | "resolve", caller: string): TE.TaskEither<ServiceError, Upgrade> =>
    pipe(
      sendUpgradeRequest(deps)(id, { name }, caller),
      TE.chain(() => deps.executions.readUpgrade(id)),
    );
}

/** Approves or rejects an upgrade in somebody's name; gives the Upgrade as it is then. */
export function decideApproval(deps: ControlUpgradeDependencies) {
  return (id: string, decision: ApprovalDecision, caller: string): TE.TaskEither<ServiceError, Upgrade> =>
    pipe(
      sendUpgradeRequest(deps)(id, decision, caller),
      TE.chain(() => deps.executions.readUpgrade(id)),
    );
}

export interface RunPrechecksDependencies extends SendRequestDependencies {
  readonly executions: Pick<UpgradeExecutions, "request" | "readTask">;
  readonly timers: Timers;
}

/** How often an accepted run is looked for, and how long after each other (milliseconds). */
const looksForRun = { count: 10, apart: 250 };

/** Runs the prechecks of a draft again; gives the Task of that run, which has begun. */
export function runPrechecks(deps: RunPrechecksDependencies) {
  return (id: string, caller: string): TE.TaskEither<ServiceError, Task> =>
    pipe(
      sendUpgradeRequest(deps)(id, { name: "prechecks" }, caller),
      // Without a run the draft has ended since, and has none to show.
      TE.chain(({ run }) => (run === undefined ? TE.right(undefined) : readRun(deps, id, run))),
      // Accepted, and the worker that did so is gone before it could show the run.
      TE.chain(TE.fromNullable(notYetApplied(id, "prechecks", { _tag: "Unanswered" }))),
    );
}

/** The Task of a run that was accepted: a Task that is read while workers are busy may be from just before it. */
function readRun(
  { executions, timers }: Pick<RunPrechecksDependencies, "executions" | "timers">,
  id: string,
  run: number,
): TE.TaskEither<ServiceError, Task | undefined> {
  return async () => {
    for (let look = 1; ; look++) {
      const read = await executions.readTask(id)();
      if (E.isLeft(read)) return read;
      const found = precheckTask(read.right, run);
      if (found !== undefined || look === looksForRun.count) return E.right(found);
      await new Promise<void>((resolve) => timers.after(looksForRun.apart, resolve));
    }
  };
}

export interface CancelUpgradeDependencies extends SendRequestDependencies {
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
      deps.executions.cancel(id, nameOf(caller)),
      TE.chain((answer) =>
        answer._tag === "NotCancellable"
          ? pipe(
              sendUpgradeRequest(deps)(id, { name: "resolve" }, caller),
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

export interface UpdateUpgradeDependencies {
  readonly executions: Pick<
    UpgradeExecutions,
    "request" | "cancel" | "recordRefusal" | "readUpgrade" | "readTask" | "readLocks" | "readPlan" | "lockHolders"
  >;
  readonly freezes: Pick<Freezes, "read">;
  readonly holds: Pick<Holds, "read">;
  readonly identities: Pick<Identities, "newId" | "now">;
  /** Minutes before its time from which on a scheduled upgrade holds the locks of its resources. */
  readonly lockLeadMinutes: number;
}

/**
 * Commits a draft, gives a scheduled upgrade or a switchover another time, or cancels an upgrade; gives the Upgrade as it
 * is then. Nothing is committed while something of it is frozen or held, nor what begins soon while another upgrade visibly
 * holds one of its resources.
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
    const refuse = (reason: ErrorBody, error = refusal(reason)): TE.TaskEither<ServiceError, never> =>
      pipe(
        TE.fromTask(
          executions.recordRefusal(id, { ...commit, request: "commit", requestedBy: nameOf(caller), reason }),
        ),
        TE.chain(() => TE.left(error)),
      );
    const problem = scheduleProblem(commit, identities.now()) ?? commitOverrideProblem(commit);
    if (problem) return refuse(problem);
    return pipe(
      executions.readUpgrade(id),
      TE.chainFirst((upgrade) =>
        beginsSomething(upgrade, commit) ? refuseFrozen(deps, id, refuse) : TE.right(undefined),
      ),
      TE.chain(({ status, phase, resourceUpgradeSpecs = [] }) => {
        if (commits(commit)) {
          const times = saysWhen(commit) ? [commit] : resourceUpgradeSpecs;
          const beginsNow = status === "SCHEDULED" && phase !== "ACTION_REQUIRED" && commit.upgradeNow === true;
          return (status === "DRAFT" || beginsNow) && !locksLater(times, deps.lockLeadMinutes, identities.now())
            ? lockedResource(executions, id)
            : TE.right(undefined);
        }
        return status === "INPROGRESS" || status === "PAUSED"
          ? pastSwitchover(executions, id, commit)
          : TE.right(undefined);
      }),
      TE.chain((reason) => (reason ? refuse(reason) : TE.right(undefined))),
      TE.chain(() => sendUpgradeRequest(deps)(id, { name: "commit", ...commit }, caller)),
      TE.chain(readAfter),
    );
  };
}

/** Whether it is a commit, or has something begin at once, rather than another time for what is scheduled. */
function beginsSomething({ status, phase }: Upgrade, commit: UpgradeUpdateSpec): boolean {
  return commits(commit) && (status === "DRAFT" || phase === "ACTION_REQUIRED" || commit.upgradeNow === true);
}

/** Refuses a commit where something of the upgrade is frozen or held. */
function refuseFrozen(
  { executions, freezes, holds }: Pick<UpdateUpgradeDependencies, "executions" | "freezes" | "holds">,
  id: string,
  refuse: (reason: ErrorBody, error: ServiceError) => TE.TaskEither<ServiceError, never>,
): TE.TaskEither<ServiceError, void> {
  return pipe(
    executions.readPlan(id),
    TE.chain((plan) =>
      pipe(
        whyClosed(
          freezes,
          resourcesOf(plan).flatMap(({ places }) => places.map(({ domain }) => domain)),
        ),
        TE.chain((frozen) =>
          frozen
            ? TE.right(frozen)
            : pipe(
                findHeldClusters({ holds }, plan),
                TE.map(([hold]) => hold && heldProblem(hold, plan)),
              ),
        ),
      ),
    ),
    TE.chain((frozen) =>
      frozen ? refuse({ errorCode: frozen.code, message: frozen.message }, notAllowed(frozen)) : TE.right(undefined),
    ),
  );
}

/** Why a switchover takes no other time. Only the Workflow of its server knows whether it has begun, and the Task shows it. */
function pastSwitchover(
  executions: Pick<UpgradeExecutions, "readTask">,
  id: string,
  { mgmtUpgradePatchSpecs = [] }: UpgradeUpdateSpec,
): TE.TaskEither<ServiceError, ErrorBody | undefined> {
  return pipe(
    executions.readTask(id),
    TE.map((task) => {
      const begun = mgmtUpgradePatchSpecs.find(({ resourceId }) => hasSwitchedOver(task, resourceId));
      if (!begun) return undefined;
      const { resourceId } = begun;
      const { name = resourceId } = task.resources?.find((one) => one.resourceId === resourceId) ?? {};
      return switchoverBegun({ resourceId, name });
    }),
  );
}

/**
 * Why a draft is not committed while another upgrade holds one of its resources. A courtesy, as with the start: the locks
 * themselves decide. So where Temporal cannot tell, nothing is refused.
 */
function lockedResource(
  executions: Pick<UpgradeExecutions, "readLocks" | "lockHolders">,
  id: string,
): TE.TaskEither<ServiceError, ErrorBody | undefined> {
  return pipe(
    executions.readLocks(id),
    TE.chain((locks) => executions.lockHolders(locks)),
    TE.orElse(() => TE.right<ServiceError, ReadonlyMap<string, HoldingUpgrade>>(new Map())),
    TE.map((holders) => {
      const held = [...holders].filter(([, { upgradeId }]) => upgradeId !== id);
      const [first] = held;
      return first && locked(first, [...new Set(held.map(([, { upgradeId }]) => upgradeId))]);
    }),
  );
}

function locked([lock, holder]: readonly [lock: string, HoldingUpgrade], holders: string[]): ErrorBody {
  return {
    errorCode: "RESOURCE_LOCKED",
    message: `${lockTitle(lock, holder.resourceName)} is held by ${holderTitle(holder)}, so the upgrade cannot be committed now.`,
    remediationMessage: `Wait until ${holderTitle(holder)} ends, or cancel it; then commit again.`,
    arguments: holders,
    context: { holder: holder.upgradeId, resource: lock },
  };
}
