import * as E from "fp-ts/Either";
import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import type { Cluster } from "../domain/cluster";
import type { ClusterLookup } from "../domain/cluster-facts";
import { clusterView, readHolders, silent, type ReadClustersDependencies } from "./cluster-view";
import type { Inventory } from "./ports";
import { notFound, type ServiceError } from "./service-error";

/** One cluster of the inventory, with its hosts and their versions where its component manager tells them. */
export function readCluster(deps: ReadClustersDependencies) {
  return (id: string): TE.TaskEither<ServiceError, Cluster> => {
    const entry = deps.inventory.clusters.find(({ resourceId }) => resourceId === id);
    if (!entry) return TE.left(notFound("cluster", id));
    return pipe(
      TE.Do,
      TE.apS("holders", readHolders(deps, [entry])),
      TE.apS(
        "now",
        pipe(
          deps.inventory.readClusters([id]),
          TE.bindTo("lookups"),
          TE.bind("hosts", ({ lookups }) => TE.fromTask(hostsOf(deps.inventory, lookups.get(id)))),
        ),
      ),
      TE.map(({ holders, now: { lookups, hosts } }) => ({ ...clusterView(entry, lookups.get(id), holders), ...hosts })),
    );
  };
}

function hostsOf(inventory: Inventory, lookup: ClusterLookup | undefined): () => Promise<Partial<Cluster>> {
  if (lookup?._tag !== "Known") return () => Promise.resolve({});
  return async () => {
    const read = await inventory.readHosts(lookup.facts)();
    if (E.isLeft(read)) return { errors: [silent(lookup.facts.componentManagerId, read.left)] };
    const versions = new Set(read.right.flatMap(({ version }) => version ?? []));
    return { hosts: [...read.right], hostCount: read.right.length, versions: [...versions].sort() };
  };
}
