import { canonicalId } from "./codec";
import type { RolloutPolicy } from "./upgrade-plan";

/** A NETVIRT instance of the inventory; it serves the clusters of its domain. */
export interface NetvirtFacts {
  readonly resourceId: string;
  readonly name: string;
  readonly componentManagerId: string;
  readonly domain: string;
  readonly domainName?: string;
  /** Resource ids of all the clusters of its domain, whose hosts it upgrades too. */
  readonly clusters: readonly string[];
  /** The same clusters, by all that they are called. */
  readonly members?: readonly NetvirtMember[];
  readonly fqdn?: string;
  /** The names that it is known by beside the first, as its certificate has them. */
  readonly sans?: readonly string[];
}

/** A cluster of a NETVIRT instance. `cluster` is its id at its component manager. */
export interface NetvirtMember {
  readonly resourceId: string;
  readonly name: string;
  readonly cluster: string;
}

/** A management server of the inventory; it serves the clusters of its component manager. */
export interface MgmtFacts {
  readonly resourceId: string;
  readonly name: string;
  readonly componentManagerId: string;
  /** Resource ids of all the clusters that it serves. */
  readonly clusters: readonly string[];
  readonly fqdn?: string;
  readonly sans?: readonly string[];
}

/** An image of the inventory that clusters can be brought to instead of the bundle's plain base image. */
export interface PersonalityFacts {
  readonly id: string;
  readonly name: string;
  /** Version of its base image. */
  readonly version: string;
  readonly addOn?: { readonly name: string; readonly version: string };
  readonly components?: Readonly<Record<string, string>>;
}

/** An ISO of the inventory that baseline-managed clusters can be brought to. */
export interface IsoFacts {
  readonly id: string;
  readonly name: string;
  readonly version: string;
}

/** What the inventory knows beside clusters. */
export interface Installations {
  readonly netvirt: readonly NetvirtFacts[];
  readonly management: readonly MgmtFacts[];
  readonly personalities: readonly PersonalityFacts[];
  readonly isos: readonly IsoFacts[];
}

/** One host at a time, checked in between; what holds where the inventory says nothing else. */
export const defaultRolloutPolicy: RolloutPolicy = {
  hostsAtOnce: 1,
  soakSeconds: 0,
  healthGate: true,
  toleratedFailures: 0,
};

/** The cluster that a client means: by its resource id, its id at its component manager, or its name. */
export function findMember({ members = [] }: Pick<NetvirtFacts, "members">, id: string): NetvirtMember | undefined {
  const same = (one: string) => canonicalId(one) === canonicalId(id);
  return (
    members.find(({ resourceId }) => same(resourceId)) ??
    members.find(({ cluster }) => same(cluster)) ??
    members.find(({ name }) => name === id)
  );
}
