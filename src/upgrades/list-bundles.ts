import { pipe } from "fp-ts/function";
import * as O from "fp-ts/Option";
import * as TE from "fp-ts/TaskEither";
import type { Bundle, PageOfBundle } from "../domain/bundle";
import { pageOf, type PageRequest } from "../domain/page";
import type { BundleCatalog } from "./ports";
import { notFound, type ServiceError } from "./service-error";

/** The bundles of the catalog: what resources can be upgraded to. */
export function listBundles(catalog: Pick<BundleCatalog, "list">) {
  return (page?: PageRequest): TE.TaskEither<ServiceError, PageOfBundle> =>
    pipe(
      catalog.list(),
      TE.map((bundles) => pageOf(bundles, page)),
    );
}

/** One bundle of the catalog. */
export function readBundle(catalog: Pick<BundleCatalog, "find">) {
  return (id: string): TE.TaskEither<ServiceError, Bundle> =>
    pipe(
      catalog.find(id),
      TE.chain(
        O.match(
          () => TE.left(notFound("bundle", id)),
          (bundle) => TE.right(bundle),
        ),
      ),
    );
}
