import * as O from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import type { PageRequest } from "../domain/page";
import type { Task } from "../domain/spec/task";
import type { PageOfUpgrade } from "../domain/spec/upgrade";
import { precheckRunOf, precheckTask } from "../domain/task/prechecks";
import type { BundleCatalog, UpgradeExecutions, UpgradeListing } from "./ports";
import { notFound, type ServiceError } from "./service-error";

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
