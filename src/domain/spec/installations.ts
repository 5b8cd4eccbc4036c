import * as t from "io-ts";
import { model } from "../codec";
import { ErrorBody } from "../errors";
import { PageMetadata } from "../page";
import { DomainReference } from "./cluster";

/** A host or edge cluster as the upgrade coordinator lists it. `clusterId`: the cluster of the inventory that it is. */
export const NetvirtGroup = model({ id: t.string, name: t.string }, { clusterId: t.string });
export type NetvirtGroup = t.TypeOf<typeof NetvirtGroup>;

/**
 * A NETVIRT instance; `id` is the `netvirtId` of a request, and the ids and names of its groups are what `hostClusterId` and
 * `edgeClusterId` take. `errors` tells why its groups are not there.
 */
export const NetvirtInstance = model(
  { id: t.string, name: t.string, domain: DomainReference, componentManagerId: t.string, clusters: t.array(t.string) },
  {
    fqdn: t.string,
    sans: t.array(t.string),
    hostClusters: t.array(NetvirtGroup),
    edgeClusters: t.array(NetvirtGroup),
    errors: t.array(ErrorBody),
  },
);
export type NetvirtInstance = t.TypeOf<typeof NetvirtInstance>;

/** A management server; `id` is the `resourceId` of its input. `clusters`: the ids of those that it serves. */
export const ManagementServer = model(
  { id: t.string, name: t.string, componentManagerId: t.string, clusters: t.array(t.string) },
  { fqdn: t.string, sans: t.array(t.string) },
);
export type ManagementServer = t.TypeOf<typeof ManagementServer>;

/** The vendor's add-on of a personality. */
export const PersonalityAddOn = model({ name: t.string, version: t.string }, {});

/** An image that image-managed clusters can be brought to; `id` is the `personalityId` of a request. */
export const Personality = model(
  { id: t.string, name: t.string, version: t.string },
  { addOn: PersonalityAddOn, components: t.record(t.string, t.string) },
);
export type Personality = t.TypeOf<typeof Personality>;

/** An ISO that baseline-managed clusters can be brought to; `id` is the id of a `customIsoSpec`. */
export const Iso = model({ id: t.string, name: t.string, version: t.string }, {});
export type Iso = t.TypeOf<typeof Iso>;

const page = <C extends t.Mixed>(element: C) => model({}, { elements: t.array(element), pageMetadata: PageMetadata });

export const PageOfNetvirtInstance = page(NetvirtInstance);
export type PageOfNetvirtInstance = t.TypeOf<typeof PageOfNetvirtInstance>;
export const PageOfManagementServer = page(ManagementServer);
export type PageOfManagementServer = t.TypeOf<typeof PageOfManagementServer>;
export const PageOfPersonality = page(Personality);
export type PageOfPersonality = t.TypeOf<typeof PageOfPersonality>;
export const PageOfIso = page(Iso);
export type PageOfIso = t.TypeOf<typeof PageOfIso>;
