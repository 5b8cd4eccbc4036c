import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import type { Cluster, PageOfCluster } from "../domain/cluster";
import { pageOf, type PageRequest } from "../domain/page";
import { clusterView, type ReadClustersDependencies, readHolders } from "./cluster-view";
import type { ServiceError } from "./service-error";

/**
 * The clusters of the inventory with what their component managers say of them now and which upgrades hold them. One
 * that does not answer leaves out its part of its clusters, and they say so.
 */
export function listClusters(deps: ReadClustersDependencies) {
  return (page?: PageRequest): TE.TaskEither<ServiceError, PageOfCluster> => {
    const { elements, pageMetadata } = pageOf(deps.inventory.clusters, page);
    return pipe(
      TE.Do,
      TE.apS("lookups", deps.inventory.readClusters(elements.map(({ resourceId }) => resourceId))),
      TE.apS("holders", readHolders(deps, elements)),
      TE.map(({ lookups, holders }) => ({
        elements: elements.map((entry): Cluster => clusterView(entry, lookups.get(entry.resourceId), holders)),
        pageMetadata,
      })),
    );
  };
}
