import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "../codec";
import { ErrorBody } from "../errors";
import { Hold } from "../hold";
import type { Opening } from "../opening";
import { PageMetadata } from "../page";
import { Timestamp, toTimestamp } from "../timestamp";

/** How the hosts of a cluster get their software. */
export const ClusterKind = OneOf("IMAGE", "BASELINE");

/** A host of a cluster. `version` is absent where the component manager does not know it. */
export const ClusterMember = model({ id: t.string, fqdn: t.string }, { version: t.string, hold: Hold });
export type ClusterMember = t.TypeOf<typeof ClusterMember>;

/** The domain of a cluster; an object, because that is what published clients decode (docs/spec-gaps.md). */
export const DomainReference = model({ id: t.string, name: t.string }, {});
export type DomainReference = t.TypeOf<typeof DomainReference>;

/** The group of a cluster in an upgrade coordinator, and the NETVIRT instance whose coordinator that is. */
export const NetvirtGroupOfCluster = model({ netvirtId: t.string, id: t.string, name: t.string }, {});

/** Whether work may begin by the calendar of the inventory, and until or from when (docs/configuration.md). */
export const MaintenanceState = model(
  { isOpen: t.boolean },
  { window: t.string, changeFreeze: t.string, opensAt: Timestamp, closesAt: Timestamp, opensAgainAt: Timestamp },
);
export type MaintenanceState = t.TypeOf<typeof MaintenanceState>;

/** The same of an opening; undefined where neither a window nor a change freeze is known. */
export function maintenanceState(opening: Opening, window: string | undefined): MaintenanceState | undefined {
  const { isOpen } = opening;
  if (isOpen && window === undefined && opening.closesAt === undefined) return undefined;
  const { closesAt, opensAgainAt, opensAt }: { closesAt?: number; opensAgainAt?: number; opensAt?: number } = opening;
  return {
    isOpen,
    ...(window !== undefined && { window }),
    ...(!isOpen && opening.because === "CHANGE_FREEZE" && { changeFreeze: opening.id }),
    ...(opensAt !== undefined && { opensAt: toTimestamp(opensAt) }),
    ...(closesAt !== undefined && { closesAt: toTimestamp(closesAt) }),
    ...(opensAgainAt !== undefined && { opensAgainAt: toTimestamp(opensAgainAt) }),
  };
}

/**
 * A cluster that can be upgraded: what the inventory says of it, what its component manager says now, which upgrade
 * holds it (`heldBy`), and the `hold` that an operator has placed on it. `id` is the `resourceId` of a request. `hosts` and `versions`, the different ones of the hosts, come with a
 * single cluster only. `errors` tells why something is not there.
 */
export const Cluster = model(
  { id: t.string, name: t.string, domain: DomainReference, platformVersion: t.string, componentManagerId: t.string },
  {
    kind: ClusterKind,
    isImageBased: t.boolean,
    hostCount: WholeNumber,
    hosts: t.array(ClusterMember),
    versions: t.array(t.string),
    heldBy: t.string,
    heldByName: t.string,
    hold: Hold,
    /** Its id at its component manager, such as `domain-c8`. */
    cluster: t.string,
    /** What its NETVIRT instances call it; with a single cluster only. */
    netvirtGroups: t.array(NetvirtGroupOfCluster),
    maintenance: MaintenanceState,
    errors: t.array(ErrorBody),
  },
);
export type Cluster = t.TypeOf<typeof Cluster>;

/** One page of the clusters of the inventory. */
export const PageOfCluster = model({}, { elements: t.array(Cluster), pageMetadata: PageMetadata });
export type PageOfCluster = t.TypeOf<typeof PageOfCluster>;
