import * as O from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import type { PageOfActivity } from "../domain/activity/upgrade-activity";
import { pageOf, type PageRequest } from "../domain/page";
import type { Task } from "../domain/spec/task";
import type { PageOfUpgrade } from "../domain/spec/upgrade";
import type { UpgradeSpec } from "../domain/spec/upgrade-spec";
import { precheckRunOf, precheckTask } from "../domain/task/prechecks";
import type { BundleCatalog, UnansweredAnswer, UpgradeExecutions, UpgradeListing } from "./ports";
import { notFound, type ServiceError, unanswered } from "./service-error";

export interface ListUpgradesDependencies {
  readonly executions: Pick<UpgradeExecutions, "list">;
  readonly catalog: BundleCatalog;
}

function isEmpty({ elements = [], pageMetadata }: PageOfUpgrade): boolean {
  return (pageMetadata?.totalElements ?? elements.length) === 0;
}

/**
 * Lists upgrades (Spec 4.2). A bundle of which neither the catalog nor an upgrade is there is not found; a known filter without a match is an
 * empty page (docs/spec-gaps.md, 404 on the list).
 */
export function listUpgrades({ executions, catalog }: ListUpgradesDependencies) {
  /** An empty page, where other upgrades than those that were asked for know the bundle. */
  const ifKnown = (bundleId: string, found: PageOfUpgrade) =>
    pipe(
      executions.list({ bundleId }),
      TE.chain((all) => (isEmpty(all) ? TE.left(notFound("bundle", bundleId)) : TE.right(found))),
    );
  return (filter: UpgradeListing, page?: PageRequest): TE.TaskEither<ServiceError, PageOfUpgrade> => {
    const { bundleId } = filter;
    if (bundleId === undefined) return executions.list(filter, page);
    return pipe(
      catalog.find(bundleId),
      TE.chain(
        O.match(
          // Upgrades outlive the catalog: a bundle that has left it is known by them.
          () =>
            pipe(
              executions.list(filter, page),
              TE.chain((found) => (isEmpty(found) ? ifKnown(bundleId, found) : TE.right(found))),
            ),
          () => executions.list(filter, page),
        ),
      ),
    );
  };
}

/** Reads a Task in full: that of an upgrade, or that of one run of its prechecks. */
export function readTask(executions: Pick<UpgradeExecutions, "readTask">) {
  return (taskId: string): TE.TaskEither<ServiceError, Task> => {
    const run = precheckRunOf(taskId);
    if (!run) return executions.readTask(taskId);
    return pipe(
      executions.readTask(run.upgradeId),
      TE.mapLeft((error) => (error._tag === "NotFound" ? notFound("task", taskId) : error)),
      TE.chain((task) => TE.fromNullable(notFound("task", taskId))(precheckTask(task, run.run))),
    );
  };
}

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

/** Reads what was asked for when an upgrade was started, with the times that it has now. */
export function readRequest(executions: Pick<UpgradeExecutions, "readPlan">) {
  return (id: string): TE.TaskEither<ServiceError, UpgradeSpec> =>
    pipe(
      executions.readPlan(id),
      TE.map(({ spec }) => spec),
    );
}

/** Reads one page of an upgrade's activity log, oldest entries first. */
export function readActivity(executions: Pick<UpgradeExecutions, "readActivity">) {
  return (id: string, page?: PageRequest): TE.TaskEither<ServiceError, PageOfActivity> =>
    pipe(
      executions.readActivity(id),
      TE.chain((answer) => {
        if (answer._tag === "Unanswered") return TE.left(activityNotReadable(id, answer));
        const { record, asOf } = answer;
        const { entries, dropped } = record;
        return TE.right({ ...pageOf(entries, page), dropped, ...(asOf !== undefined && { asOf }) });
      }),
    );
}

function activityNotReadable(id: string, { blocked }: UnansweredAnswer): ServiceError {
  const message = `The activity log of upgrade ${id} cannot be read`;
  return unanswered({
    code: "ACTIVITY_NOT_READABLE",
    message: blocked ? `${message}. ${blocked.message}` : `${message}: no worker answered in time.`,
    remediation:
      blocked?.remediationMessage ?? "Read it again once a worker runs. The upgrade's Task can be read without one.",
  });
}
