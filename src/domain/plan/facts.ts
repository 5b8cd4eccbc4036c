import { canonicalId } from "../codec";
import type { ManagerSilence } from "../manager-silence";
import type { MaintenancePlace } from "../opening";
import type { Bundle, BundleComponent } from "../spec/bundle";
import { isSameVersion } from "../version";
import { type ClusterKind, type ClusterRef, type Product, products, type RolloutPolicy } from "./upgrade-plan";

/** What admission and the plan need to know of a cluster, read when the request arrives. */
export interface ClusterFacts extends ClusterRef {
  readonly kind: ClusterKind;
  readonly hostCount: number;
  /** Id of the domain that it belongs to. */
  readonly domain: string;
  readonly domainName?: string;
  /** Id of its maintenance window. */
  readonly maintenanceWindow?: string;
  readonly rollout: RolloutPolicy;
  /** How many approvals an upgrade of it needs, by the policy of its domain; absent means none. */
  readonly approvals?: number;
  /** Resource id of the management server that serves it, where the inventory has it. */
  readonly managementServer?: string;
  /** Bill-of-materials version of the platform that the cluster belongs to, such as `5.2.1`. */
  readonly platformVersion: string;
}

/** What the inventory says of a cluster by itself. */
export type ClusterEntryFacts = Omit<ClusterFacts, "kind" | "hostCount">;

/** What the inventory and its component managers say of a resource id that a request names. */
export type ClusterLookup =
  | { readonly _tag: "Known"; readonly facts: ClusterFacts }
  | { readonly _tag: "Unknown" }
  | {
      readonly _tag: "Unread";
      readonly name: string;
      readonly componentManagerId: string;
      readonly silence: ManagerSilence;
    };

/** A NETVIRT instance of the inventory; it serves the clusters of its domain. */
export interface NetvirtFacts {
  readonly resourceId: string;
  readonly name: string;
  readonly componentManagerId: string;
  readonly domain: string;
  readonly domainName?: string;
  /** Id of its domain's maintenance window. */
  readonly maintenanceWindow?: string;
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
  /** Their domains and maintenance windows. */
  readonly places: readonly MaintenancePlace[];
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

/** The products of a bundle's components, in the order in which they are upgraded. */
export function productsOf(bundle: Bundle): Product[] {
  return products.filter((product) => componentOf(bundle, product) !== undefined);
}

/** The bundle's component of a product, where it has one. */
export function componentOf(bundle: Bundle, product: Product): BundleComponent | undefined {
  return bundle.components?.find((component) => component.type === product);
}

/**
 * The HOSTOS base image that a request means: the one of its `toVersion` where the bundle has several, else the
 * bundle's first. Undefined where the bundle holds none.
 */
export function hostosVersionOf(bundle: Bundle, toVersion?: string): string | undefined {
  const versions = hostosVersions(bundle);
  if (toVersion === undefined || toVersion === bundle.version) return versions[0];
  return (
    versions.find((offered) => offered === toVersion) ?? versions.find((offered) => isSameVersion(offered, toVersion))
  );
}

/** Every `toVersion` that a request may give: those of the HOSTOS components, and the bundle's own. */
export function versionsOffered(bundle: Bundle): readonly string[] {
  return [...hostosVersions(bundle), ...(bundle.version === undefined ? [] : [bundle.version])];
}

function hostosVersions({ components = [] }: Bundle): readonly string[] {
  return components.flatMap(({ type, toVersion }) => (type === "HOSTOS" ? (toVersion ?? []) : []));
}
