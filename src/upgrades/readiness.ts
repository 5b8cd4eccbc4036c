import * as E from "fp-ts/Either";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import { pageOf, type PageRequest } from "../domain/page";
import {
  type CheckTimes,
  fallingRange,
  type PageOfReadinessSchedule,
  type ReadinessSpec,
} from "../domain/readiness/readiness-spec";
import {
  isReadinessId,
  newReadiness,
  type ReadinessPlan,
  readinessId,
  readinessPlan,
  readinessTask,
} from "../domain/readiness/readiness-task";
import type { PageOfTask, Task } from "../domain/spec/task";
import { hasTaskEnded } from "../domain/task/lost-upgrade";
import { toTimestamp } from "../domain/timestamp";
import type { ReadinessChecks } from "./ports";
import { badRequest, conflict, notFound, type Problem, type ServiceError } from "./service-error";
import { keyReused, planAdmitted, type PlanDependencies } from "./start-upgrade";
import type { ReadinessRequest } from "./upgrade-service";

export interface ReadinessDependencies extends PlanDependencies {
  readonly readiness: ReadinessChecks;
}

/**
 * Starts a readiness check: the prechecks of an upgrade that is not started. Refused where the upgrade would be, but for locks,
 * freezes and holds, which it does not touch. With a schedule, that is created after the first run has begun.
 */
export function startReadiness(deps: ReadinessDependencies) {
  return ({ spec, caller, idempotencyKey }: ReadinessRequest): TE.TaskEither<ServiceError, Task> => {
    const { identities, readiness } = deps;
    const { bundleId, resourceIds, schedule } = spec;
    const id = readinessId(
      idempotencyKey === undefined ? identities.newId() : identities.idFor(caller, idempotencyKey),
    );
    const at = toTimestamp(identities.now());
    const requestedBy = caller.slice(0, 255);
    const requestDigest = idempotencyKey === undefined ? undefined : identities.digest(spec);
    const origin = { id, requestedBy, ...(requestDigest !== undefined && { requestDigest }) };
    const keepSchedule = (plan: ReadinessPlan) =>
      schedule === undefined
        ? TE.right(undefined)
        : readiness.createSchedule(id, plan, {
            ...{ name: plan.name, bundleId, resourceIds, schedule },
            ...{ createdBy: requestedBy, createdAt: at },
          });
    return pipe(
      schedule ? TE.fromEither(possible(schedule)) : TE.right(undefined),
      TE.chain(() => plan(deps, spec, id)),
      TE.matchE(
        // What is refused now may have been accepted before: its bundle was recalled since.
        (error) => (requestDigest === undefined ? TE.left(error) : repeated(readiness, id, requestDigest, error)),
        (planned) =>
          pipe(
            readiness.start(planned, origin),
            TE.chain((outcome) => {
              if (outcome === "OTHER") return TE.left<ServiceError, Task>(badRequest(keyReused));
              return outcome === "STARTED"
                ? TE.right(readinessTask(newReadiness(planned, id, at)))
                : readiness.read(id);
            }),
            // Whoever reuses a key must not get a schedule by it, so the run comes first.
            TE.chainFirst(() => keepSchedule(planned)),
          ),
      ),
    );
  };
}

/** The Task of the request's earlier self; the error where there is none. */
function repeated(readiness: ReadinessChecks, id: string, requestDigest: string, error: ServiceError) {
  return pipe(
    readiness.findStarted(id, requestDigest),
    TE.chain((found): TE.TaskEither<ServiceError, Task> => {
      if (found === "OTHER") return TE.left(badRequest(keyReused));
      return found === "REPEATED" ? readiness.read(id) : TE.left(error);
    }),
  );
}

/** The plan of the upgrade, admitted as a draft is: a lock that somebody holds now is no reason not to look. */
function plan(deps: PlanDependencies, { bundleId, resourceIds }: ReadinessSpec, id: string) {
  const resourceUpgradeSpecs = resourceIds.map((resourceId) => ({ resourceId }));
  return pipe(
    planAdmitted(deps, { spec: { bundleId, resourceType: "CLUSTER", draftMode: true, resourceUpgradeSpecs } }, id),
    TE.mapLeft(withOwnPaths),
    TE.map(readinessPlan),
  );
}

/** Names the fields of this request instead of those of an upgrade. */
function withOwnPaths(error: ServiceError): ServiceError {
  if (!("problems" in error)) return error;
  const problems = error.problems.map((problem): Problem => {
    const place = /^resourceUpgradeSpecs(\[\d+\])/.exec(problem.path ?? "")?.[1];
    return place === undefined ? problem : { ...problem, path: `resourceIds${place}` };
  });
  return { ...error, problems };
}

/** What no schema can say of a schedule. */
function possible(schedule: CheckTimes): E.Either<ServiceError, undefined> {
  const refused = (field: keyof CheckTimes, message: string, remediation: string) =>
    E.left(badRequest({ path: `schedule.${field}`, code: "CHECK_SCHEDULE_INVALID", message, remediation }));
  const { timeZone } = schedule;
  const range = fallingRange(schedule);
  if (range !== undefined)
    return refused(
      "cron",
      `The range ${range} ends before it begins.`,
      "Give its smaller number first, or two ranges.",
    );
  try {
    Intl.DateTimeFormat("en", { timeZone });
    return E.right(undefined);
  } catch {
    return refused(
      "timeZone",
      `There is no time zone ${timeZone}.`,
      "Give the name of an IANA time zone, such as Europe/Berlin or UTC.",
    );
  }
}

/** Cancels a readiness check that runs; gives its Task as it is then. */
export function cancelReadiness({ readiness }: Pick<ReadinessDependencies, "readiness">) {
  return (taskId: string): TE.TaskEither<ServiceError, Task> =>
    pipe(
      readiness.read(taskId),
      TE.chain((task) =>
        hasTaskEnded(task) && task.status !== "Cancelled"
          ? TE.left(notPossible("It has ended, so it cannot be cancelled.", "Start another check.", task))
          : readiness.cancel(taskId),
      ),
      TE.chain(() => readiness.read(taskId)),
    );
}

/** A readiness check is not retried: another one is started. */
export function retryReadiness({ readiness }: Pick<ReadinessDependencies, "readiness">) {
  return (taskId: string): TE.TaskEither<ServiceError, Task> =>
    pipe(
      readiness.read(taskId),
      TE.chain((task) =>
        TE.left(notPossible("A readiness check cannot be retried.", "Start another one: POST /v1/prechecks.", task)),
      ),
    );
}

function notPossible(message: string, remediationMessage: string, { status }: Task): ServiceError {
  return conflict({ errorCode: "REQUEST_NOT_POSSIBLE", message, remediationMessage, context: { status } });
}

/** Lists readiness checks, the latest first. */
export function listReadiness({ readiness }: Pick<ReadinessDependencies, "readiness">) {
  return (page?: PageRequest): TE.TaskEither<ServiceError, PageOfTask> => readiness.list(page);
}

/** Lists the schedules, the oldest first. */
export function listReadinessSchedules({ readiness }: Pick<ReadinessDependencies, "readiness">) {
  return (page?: PageRequest): TE.TaskEither<ServiceError, PageOfReadinessSchedule> =>
    pipe(
      readiness.listSchedules(),
      TE.map((all) => pageOf(all, page)),
    );
}

/** Deletes a schedule; a run of it that has begun goes on. */
export function deleteReadinessSchedule({ readiness }: Pick<ReadinessDependencies, "readiness">) {
  return (id: string): TE.TaskEither<ServiceError, void> =>
    isReadinessId(id) ? readiness.deleteSchedule(id) : TE.left(notFound("schedule", id));
}
