import type { PlannedCheck } from "../checks/own-check";
import type { PlannedReceiver } from "../notifications/upgrade-notification";
import type { MaintenancePlace } from "../opening";
import type { Bundle } from "../spec/bundle";
import type { MaintenanceOverride } from "../spec/maintenance-override";
import type { RequestWarning } from "../spec/request-warning";
import type { UpgradeSpec } from "../spec/upgrade-spec";
import type { HostRemediationOptions } from "../task/host-remediation";
import type { HostScope } from "./host-scope";
import type { ActivityWaits } from "../time-limits";

/** Products in the order in which they are upgraded. */
export const products = ["NETVIRT", "MGMT", "HOSTOS"] as const;
export type Product = (typeof products)[number];

/** How hosts of a cluster are managed: by an image (vLCM) or by baselines (per host). */
export type ClusterKind = "IMAGE" | "BASELINE";

/** Where a cluster is reached: the component manager's id in the inventory and its own id of the cluster. */
export interface ClusterRef {
  readonly resourceId: string;
  readonly name: string;
  readonly componentManagerId: string;
  /** The component manager's id, such as `domain-c8`. */
  readonly cluster: string;
}

/** How often an Activity that changes something is tried, and how long it waits in between. */
export interface AttemptPolicy {
  /** At least 1. */
  readonly maximumAttempts: number;
  /** Seconds between two attempts; 0 means at once. */
  readonly retryDelay: number;
}

/**
 * What an image has beside its base image: a personality of the inventory, with the firmware add-ons that the request
 * names (Spec 2.2). Imported into the cluster's draft image.
 */
export interface ClusterImage {
  /** Of the personality in the inventory. */
  readonly name: string;
  /** The vendor's add-on, where the personality has one. */
  readonly addOn?: { readonly name: string; readonly version: string };
  /** Single components by name, with their versions. */
  readonly components?: Readonly<Record<string, string>>;
  readonly hardwareSupport: readonly HardwareSupportPackage[];
}

/** A firmware add-on: the hardware support manager that brings it, and its package. */
export interface HardwareSupportPackage {
  readonly manager: string;
  readonly package: string;
  readonly version: string;
}

/**
 * How many hosts of a cluster may be out of service, and what must hold before the next one is (docs/decisions/0007).
 * From the inventory; a request may be more careful.
 */
export interface RolloutPolicy {
  /** At least 1. */
  readonly hostsAtOnce: number;
  /** Seconds to wait after each host, or group of hosts, before the next. */
  readonly soakSeconds: number;
  /** Whether the cluster must be healthy before the next host. */
  readonly healthGate: boolean;
  /** How many hosts may fail without stopping the cluster. */
  readonly toleratedFailures: number;
}

/** One cluster's part of an upgrade. */
export interface ClusterUpgradePlan extends ClusterRef {
  readonly kind: ClusterKind;
  /** The HOSTOS base image that its hosts are brought to. */
  readonly targetVersion: string;
  /** Only of an image-managed cluster with a personality; absent means the plain base image. */
  readonly image?: ClusterImage;
  /** Only of a baseline-managed cluster with a custom ISO: its id in the inventory, instead of the bundle's patch. */
  readonly customIsoId?: string;
  /** The hosts that are upgraded; absent means all. */
  readonly hosts?: HostScope;
  readonly rollout: RolloutPolicy;
  /** The management server that serves the cluster, where the inventory has it: the two are not upgraded at once. */
  readonly managementServer?: string;
  /** The NETVIRT instances of its domain, which upgrade its hosts as well. */
  readonly netvirtInstances: readonly string[];
  /** The places that must be open for it to begin: without freeze, and in their maintenance windows. */
  readonly places: readonly MaintenancePlace[];
  readonly attempts: AttemptPolicy;
  readonly options: HostRemediationOptions;
  /** Not before this timestamp; absent means now. */
  readonly scheduledTimestamp?: string;
}

/** One host cluster of NETVIRT, as the user asked for it. Absent fields leave the upgrade coordinator's own setting. */
export interface NetvirtHostClusterOptions {
  /** As the request names it: the upgrade coordinator's id or name of the unit group, or what clusters are called. */
  readonly id: string;
  /** The name of the cluster that this is in the inventory, by which the coordinator calls its group too. */
  readonly name?: string;
  /** Whether its hosts are upgraded at the same time. */
  readonly parallel?: boolean;
  /** Whether its hosts are upgraded in place, without maintenance mode. */
  readonly liveUpgrade?: boolean;
}

/** One edge cluster of NETVIRT, as the user asked for it. */
export interface NetvirtEdgeClusterOptions {
  /** The upgrade coordinator's id or name of the unit group. */
  readonly id: string;
  readonly parallel?: boolean;
}

/**
 * What a user asked of a NETVIRT upgrade (Spec 2.3). A list of clusters names those that are upgraded, the others are
 * left out; without the list all are upgraded.
 */
export interface NetvirtUpgradeOptions {
  readonly edgeOnly: boolean;
  readonly hostClusters?: readonly NetvirtHostClusterOptions[];
  readonly edgeClusters?: readonly NetvirtEdgeClusterOptions[];
  readonly hostClustersParallel?: boolean;
  readonly edgeClustersParallel?: boolean;
}

/** One NETVIRT instance's part of an upgrade. */
export interface NetvirtUpgradePlan {
  readonly kind: "NETVIRT";
  /** Its id in the inventory; `netvirtId` of the request. */
  readonly resourceId: string;
  readonly name: string;
  /** The NETVIRT manager in the inventory. */
  readonly componentManagerId: string;
  readonly targetVersion: string;
  readonly attempts: AttemptPolicy;
  readonly options: NetvirtUpgradeOptions;
  readonly fqdn?: string;
  readonly sans?: readonly string[];
  /** Resource ids of the clusters of its domain: none of them is upgraded by another upgrade meanwhile. */
  readonly clusters: readonly string[];
  /** The places that must be open for it to begin: without freeze, and in their maintenance windows. */
  readonly places: readonly MaintenancePlace[];
  /** Not before this timestamp; absent means now. */
  readonly scheduledTimestamp?: string;
}

/** The address of a management server while it is migrated; `prefix` is the length of the subnet mask in bits. */
export type MgmtTemporaryNetwork =
  | { readonly mode: "AUTOMATIC" }
  | { readonly mode: "STATIC"; readonly ipAddress: string; readonly prefix: number; readonly gateway: string };

/** One management server's part of an upgrade. */
export interface MgmtUpgradePlan {
  readonly kind: "MGMT";
  readonly resourceId: string;
  readonly name: string;
  /** The management server in the inventory; the same component manager that its clusters have. */
  readonly componentManagerId: string;
  readonly targetVersion: string;
  readonly attempts: AttemptPolicy;
  readonly mechanism: "InPlace" | "ReducedDowntimeMigration";
  readonly fqdn?: string;
  readonly sans?: readonly string[];
  /** Only of ReducedDowntimeMigration: the switchover waits for this timestamp; absent means as soon as prepared. */
  readonly startSwitchoverTimestamp?: string;
  /** Only of ReducedDowntimeMigration. */
  readonly temporaryNetwork?: MgmtTemporaryNetwork;
  /** Resource ids of the clusters that it serves: none of them is upgraded by another upgrade meanwhile. */
  readonly clusters: readonly string[];
  /** The places that must be open for it to begin: without freeze, and in their maintenance windows. */
  readonly places: readonly MaintenancePlace[];
  /** Not before this timestamp; absent means now. */
  readonly scheduledTimestamp?: string;
}

/** One resource's part of an upgrade: what a child Workflow upgrades and locks. Told apart by `kind`. */
export type ResourcePlan = ClusterUpgradePlan | NetvirtUpgradePlan | MgmtUpgradePlan;

/** One product's part of an upgrade. */
export interface ProductPlan {
  readonly product: Product;
  readonly resources: readonly ResourcePlan[];
}

/**
 * Everything an upgrade will do, as data: made once from the accepted request and the facts known then, printed by
 * `plan`, interpreted by the Workflow, and shown by the Task.
 */
export interface UpgradePlan {
  /** Task id, Upgrade id and Temporal Workflow ID at once. */
  readonly id: string;
  readonly name: string;
  readonly creationTimestamp: string;
  readonly draft: boolean;
  readonly spec: UpgradeSpec;
  readonly bundle: Bundle;
  /** In the order in which they run; never empty. */
  readonly products: readonly ProductPlan[];
  /** How many persons beside the one who asks for it have to approve it before anything begins; absent means none. */
  readonly approvals?: number;
  /** Absent where it waits for maintenance windows and change freezes. */
  readonly maintenanceOverride?: MaintenanceOverride;
  /** Days that a failed upgrade stays open for `retry` or `resolve`. */
  readonly resolutionDays: number;
  /** Minutes by which a scheduled resource may begin late by itself; later it waits for a commit. */
  readonly lateStartMinutes: number;
  /** Minutes before its time from which on a scheduled upgrade holds the locks of its resources. */
  readonly lockLeadMinutes: number;
  readonly waits: ActivityWaits;
  /** What of the request has no effect; absent where all of it has. */
  readonly warnings?: readonly RequestWarning[];
  /** Checks of the inventory that it asks; absent where there are none. */
  readonly checks?: readonly PlannedCheck[];
  /** Who is told what happens to it; absent where nobody is. */
  readonly notifications?: readonly PlannedReceiver[];
  /** Minutes after which they are told of a wait; absent means the default. */
  readonly longWaitMinutes?: number;
  /** The console's page of the upgrade; absent where the service does not know its own address. */
  readonly page?: string;
  /** Where Temporal is reached, for the commands that its Web UI shows; `host:port`. */
  readonly temporalAddress?: string;
}

/** All resources of a plan, in order. */
export function resourcesOf(plan: UpgradePlan): readonly ResourcePlan[] {
  return plan.products.flatMap((product) => product.resources);
}

/** The resources of a plan that are clusters, in order. */
export function clustersOf(plan: UpgradePlan): readonly ClusterUpgradePlan[] {
  return resourcesOf(plan).filter(isCluster);
}

/** Tells clusters, of both kinds, from servers. */
export function isCluster(resource: ResourcePlan): resource is ClusterUpgradePlan {
  return resource.kind === "IMAGE" || resource.kind === "BASELINE";
}

/**
 * The rollout policy by which a cluster is really upgraded. Virtual machines are suspended to the memory of a host by
 * its remediation alone, which empties the hosts of an image-managed cluster one by one: so they go then.
 */
export function rolloutOf({ kind, rollout, options }: ClusterUpgradePlan): RolloutPolicy {
  const needsTheProduct = kind === "IMAGE" && options.preRemediationPowerAction === "SUSPEND_VMS_TO_MEMORY";
  return needsTheProduct ? { ...rollout, hostsAtOnce: 1 } : rollout;
}

/** Hosts in their order, as many in each group as are in work at once. */
export function groupsOf<H>(hosts: readonly H[], { hostsAtOnce }: Pick<RolloutPolicy, "hostsAtOnce">): H[][] {
  return Array.from({ length: Math.ceil(hosts.length / hostsAtOnce) }, (_, group) =>
    hosts.slice(group * hostsAtOnce, (group + 1) * hostsAtOnce),
  );
}

/** Whether hosts of a cluster are remediated together, by one call to its component manager. */
export function isRemediatedTogether(cluster: ClusterUpgradePlan): boolean {
  return cluster.kind === "IMAGE" && rolloutOf(cluster).hostsAtOnce > 1;
}

/**
 * Whether hosts that are in work at once take a single Activity, with nothing read before. It can then look at the cluster's
 * health itself; several would each find the others in maintenance mode.
 */
export function isOneActivity(cluster: ClusterUpgradePlan): boolean {
  return cluster.kind === "IMAGE" && ownOptionsOf(cluster)?.preRemediationPowerAction === undefined;
}

/**
 * The options of an image-managed cluster that the service carries out itself (docs/decisions/0008): the product does it
 * only where it empties a host, and hosts that it takes together are empty before. Undefined where there are none.
 */
export function ownOptionsOf(cluster: ClusterUpgradePlan): HostRemediationOptions | undefined {
  if (!isRemediatedTogether(cluster)) return undefined;
  const { preRemediationPowerAction: action, disableHac, disableDpm } = cluster.options;
  const own: HostRemediationOptions = {
    ...(switchesVmsOff(cluster) && action && { preRemediationPowerAction: action }),
    ...(disableHac === true && { disableHac }),
    ...(disableDpm === true && { disableDpm }),
  };
  return Object.keys(own).length > 0 ? own : undefined;
}

/** Whether virtual machines are powered off or suspended before their host is upgraded. */
export function switchesVmsOff({ options: { preRemediationPowerAction: action } }: ClusterUpgradePlan): boolean {
  return action !== undefined && action !== "DO_NOT_CHANGE_VMS_POWER_STATE";
}
