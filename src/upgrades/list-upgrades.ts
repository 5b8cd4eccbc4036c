import { pipe } from "fp-ts/function";
import * as O from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import type { PageRequest } from "../domain/page";
import type { PageOfUpgrade } from "../domain/upgrade";
import type { BundleCatalog, UpgradeExecutions, UpgradeFilter } from "./ports";
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
  return (filter: UpgradeFilter, page?: PageRequest): TE.TaskEither<ServiceError, PageOfUpgrade> => {
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
