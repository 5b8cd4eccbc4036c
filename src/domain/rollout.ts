import type { HostRemediationOptions } from "./host-remediation";
import type { ClusterUpgradePlan, RolloutPolicy } from "./upgrade-plan";

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
function switchesVmsOff({ options: { preRemediationPowerAction: action } }: ClusterUpgradePlan): boolean {
  return action !== undefined && action !== "DO_NOT_CHANGE_VMS_POWER_STATE";
}
