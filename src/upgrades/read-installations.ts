import * as E from "fp-ts/Either";
import * as O from "fp-ts/Option";
import * as T from "fp-ts/Task";
import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import type { ErrorBody } from "../domain/errors";
import { type ManagerSilence, silenceError } from "../domain/manager-silence";
import type { Hold } from "../domain/hold";
import { placeOf } from "../domain/opening";
import { pageOf, type PageRequest } from "../domain/page";
import { type ClusterEntryFacts, type ClusterLookup, findMember, type NetvirtFacts } from "../domain/plan/facts";
import { clusterLock, type HoldingUpgrade, mgmtLock } from "../domain/resource-lock";
import type { Bundle, PageOfBundle } from "../domain/spec/bundle";
import { type Cluster, maintenanceState, type PageOfCluster } from "../domain/spec/cluster";
import type {
  NetvirtInstance,
  PageOfIso,
  PageOfManagementServer,
  PageOfNetvirtInstance,
  PageOfPersonality,
} from "../domain/spec/installations";
import type { BundleCatalog, Holds, Inventory, NetvirtGroupRead, UpgradeExecutions } from "./ports";
import { notFound, type ServiceError, temporalUnreachable } from "./service-error";

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
      TE.apS("holds", deps.holds.list()),
      TE.map(({ lookups, holders, holds }) => ({
        elements: elements.map((entry): Cluster => ({
          ...clusterView(deps.inventory, entry, lookups.get(entry.resourceId), holders),
          ...holdOf(holds, entry.resourceId),
        })),
        pageMetadata,
      })),
    );
  };
}

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
      TE.bind("holds", ({ now: { hosts } }) => {
        const ofHosts = (hosts.hosts ?? []).map((host) => ({ clusterId: id, hostId: host.id }));
        return deps.holds.read([{ clusterId: id }, ...ofHosts]);
      }),
      TE.map(({ holders, groups, holds, now: { lookups, hosts } }) => ({
        ...clusterView(deps.inventory, entry, lookups.get(id), holders),
        ...hosts,
        ...(hosts.hosts && { hosts: hosts.hosts.map((host) => ({ ...host, ...holdOf(holds, id, host.id) })) }),
        ...holdOf(holds, id),
        ...(groups.length > 0 && { netvirtGroups: groups }),
      })),
    );
  };
}

/** The hold of a cluster, or of one of its hosts. */
function holdOf(holds: readonly Hold[], cluster: string, host?: string): { readonly hold?: Hold } {
  const hold = holds.find(({ clusterId, hostId }) => clusterId === cluster && hostId === host);
  return hold ? { hold } : {};
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

/** The NETVIRT instances of the inventory, each with the groups that its upgrade coordinator lists now. */
export function listNetvirt(inventory: Pick<Inventory, "installations" | "readNetvirtGroups">) {
  return (page?: PageRequest): TE.TaskEither<ServiceError, PageOfNetvirtInstance> => {
    const { elements, pageMetadata } = pageOf(inventory.installations.netvirt, page);
    return pipe(
      T.traverseArray((facts: NetvirtFacts) => readInstance(inventory, facts))(elements),
      T.map((instances) => ({ elements: [...instances], pageMetadata })),
      TE.fromTask,
    );
  };
}

function readInstance(inventory: Pick<Inventory, "readNetvirtGroups">, facts: NetvirtFacts): T.Task<NetvirtInstance> {
  const { resourceId: id, name, domain, domainName = domain, componentManagerId, clusters, fqdn, sans } = facts;
  const known: NetvirtInstance = {
    id,
    name,
    domain: { id: domain, name: domainName },
    componentManagerId,
    clusters: [...clusters],
    ...(fqdn !== undefined && { fqdn }),
    ...(sans && { sans: [...sans] }),
  };
  return pipe(
    inventory.readNetvirtGroups(componentManagerId),
    T.map(
      E.match(
        (silence): NetvirtInstance => ({ ...known, errors: [silent(componentManagerId, silence)] }),
        (groups): NetvirtInstance => ({
          ...known,
          hostClusters: groups
            .filter(({ type }) => type === "HOST")
            .map((group) => {
              const clusterId = findMember(facts, group.name)?.resourceId;
              return { id: group.id, name: group.name, ...(clusterId !== undefined && { clusterId }) };
            }),
          edgeClusters: groups
            .filter(({ type }) => type === "EDGE")
            .map((group) => ({ id: group.id, name: group.name })),
        }),
      ),
    ),
  );
}

/** The management servers of the inventory. */
export function listManagementServers({ installations }: Pick<Inventory, "installations">) {
  return (page?: PageRequest): TE.TaskEither<ServiceError, PageOfManagementServer> =>
    TE.right(
      pageOf(
        installations.management.map(({ resourceId: id, name, componentManagerId, clusters, fqdn, sans }) => ({
          id,
          name,
          componentManagerId,
          clusters: [...clusters],
          ...(fqdn !== undefined && { fqdn }),
          ...(sans && { sans: [...sans] }),
        })),
        page,
      ),
    );
}

/** The personalities of the inventory. */
export function listPersonalities({ installations }: Pick<Inventory, "installations">) {
  return (page?: PageRequest): TE.TaskEither<ServiceError, PageOfPersonality> =>
    TE.right(
      pageOf(
        installations.personalities.map(({ id, name, version, addOn, components }) => ({
          id,
          name,
          version,
          ...(addOn && { addOn }),
          ...(components && { components: { ...components } }),
        })),
        page,
      ),
    );
}

/** The ISOs of the inventory. */
export function listIsos({ installations }: Pick<Inventory, "installations">) {
  return (page?: PageRequest): TE.TaskEither<ServiceError, PageOfIso> =>
    TE.right(
      pageOf(
        installations.isos.map(({ id, name, version }) => ({ id, name, version })),
        page,
      ),
    );
}

interface ReadClustersDependencies {
  readonly inventory: Inventory;
  readonly holds: Pick<Holds, "read" | "list">;
  readonly executions: Pick<UpgradeExecutions, "lockHolders">;
}

/** The holder of each lock that is held. */
export type Holders = ReadonlyMap<string, HoldingUpgrade>;

/** A cluster as clients see it, of what its sources say. */
function clusterView(
  inventory: Pick<Inventory, "openingOf">,
  entry: ClusterEntryFacts,
  lookup: ClusterLookup | undefined,
  holders: Holders,
): Cluster {
  const { resourceId: id, name, domain, domainName = domain, platformVersion, componentManagerId, cluster } = entry;
  const heldBy = locksOf(entry).flatMap((lock) => holders.get(lock) ?? [])[0];
  return {
    id,
    name,
    domain: { id: domain, name: domainName },
    platformVersion,
    componentManagerId,
    cluster,
    ...known(entry, lookup),
    ...maintenanceOf(entry, inventory),
    ...(heldBy && { heldBy: heldBy.upgradeId }),
    ...(heldBy?.upgradeName !== undefined && { heldByName: heldBy.upgradeName }),
  };
}

/** Nothing where the inventory has neither a window for it nor a change freeze. */
function maintenanceOf(
  entry: ClusterEntryFacts,
  { openingOf }: Pick<Inventory, "openingOf">,
): Pick<Cluster, "maintenance"> {
  const maintenance = maintenanceState(openingOf([placeOf(entry)]), entry.maintenanceWindow);
  return maintenance ? { maintenance } : {};
}

function known({ componentManagerId, name }: ClusterEntryFacts, lookup: ClusterLookup | undefined): Partial<Cluster> {
  if (lookup?._tag === "Known") {
    const { kind, hostCount } = lookup.facts;
    return { kind, isImageBased: kind === "IMAGE", hostCount };
  }
  if (lookup?._tag === "Unread") return { errors: [silent(componentManagerId, lookup.silence)] };
  return {
    errors: [
      {
        errorCode: "RESOURCE_NOT_FOUND",
        errorType: "NOT_FOUND",
        message: `Component manager ${componentManagerId} does not have cluster ${name} of the inventory.`,
        remediationMessage: "Correct the inventory.",
      },
    ],
  };
}

/** The error of what a component manager did not tell. */
export function silent(componentManagerId: string, silence: ManagerSilence): ErrorBody {
  return silenceError(componentManagerId, silence, "read again");
}

/** Whoever holds one of these keeps the cluster from being upgraded. */
function locksOf({ resourceId, managementServer }: ClusterEntryFacts): readonly string[] {
  return [clusterLock(resourceId), ...(managementServer === undefined ? [] : [mgmtLock(managementServer)])];
}

/** Who holds the clusters. Reads have no 424 (docs/spec-gaps.md). */
function readHolders(
  { executions }: ReadClustersDependencies,
  clusters: readonly ClusterEntryFacts[],
): TE.TaskEither<ServiceError, Holders> {
  return pipe(
    executions.lockHolders(clusters.flatMap(locksOf)),
    TE.mapLeft((error) => (error._tag === "FailedDependency" ? temporalUnreachable(error) : error)),
  );
}
