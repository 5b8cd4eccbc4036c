import * as E from "fp-ts/Either";
import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import type { Cluster } from "../domain/cluster";
import type { ClusterEntryFacts, ClusterLookup } from "../domain/cluster-facts";
import { clusterView, readHolders, silent, type ReadClustersDependencies } from "./cluster-view";
import { findMember } from "../domain/installations";
import type { Inventory, NetvirtGroupRead } from "./ports";
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
      TE.apS("groups", TE.fromTask(groupsOf(deps.inventory, entry))),
      TE.map(({ holders, groups, now: { lookups, hosts } }) => ({
        ...clusterView(entry, lookups.get(id), holders),
        ...hosts,
        ...(groups.length > 0 && { netvirtGroups: groups }),
      })),
    );
  };
}

/** What the NETVIRT instances of its domain call it; a coordinator that does not answer tells nothing. */
function groupsOf(
  inventory: Pick<Inventory, "installations" | "readNetvirtGroups">,
  { domain, resourceId }: ClusterEntryFacts,
): () => Promise<NonNullable<Cluster["netvirtGroups"]>> {
  const instances = inventory.installations.netvirt.filter((instance) => instance.domain === domain);
  return async () => {
    const read = instances.map(async (instance) => {
      const groups = await inventory.readNetvirtGroups(instance.componentManagerId)();
      return E.getOrElse((): readonly NetvirtGroupRead[] => [])(groups)
        .filter(({ type, name }) => type === "HOST" && findMember(instance, name)?.resourceId === resourceId)
        .map(({ id, name }) => ({ netvirtId: instance.resourceId, id, name }));
    });
    return (await Promise.all(read)).flat();
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
