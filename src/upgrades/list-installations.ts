import * as E from "fp-ts/Either";
import { pipe } from "fp-ts/function";
import * as T from "fp-ts/Task";
import * as TE from "fp-ts/TaskEither";
import { findMember, type NetvirtFacts } from "../domain/installations";
import type {
  NetvirtInstance,
  PageOfIso,
  PageOfManagementServer,
  PageOfNetvirtInstance,
  PageOfPersonality,
} from "../domain/installed";
import { pageOf, type PageRequest } from "../domain/page";
import { silent } from "./cluster-view";
import type { Inventory } from "./ports";
import type { ServiceError } from "./service-error";

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
