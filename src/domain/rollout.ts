import type { ClusterUpgradePlan, RolloutPolicy } from "./upgrade-plan";

/** Plans made before there was a policy: one host at a time, and nothing in between. */
const plainRollout: RolloutPolicy = { hostsAtOnce: 1, soakSeconds: 0, healthGate: false, toleratedFailures: 0 };

/**
 * The rollout policy by which a cluster is really upgraded. The product takes several hosts of an image-managed cluster
 * together only when they are in maintenance mode already. What it does itself when it empties a host (power actions,
 * HA and DPM switched off) does not act then, so with these options such a cluster is upgraded host by host.
 */
export function rolloutOf({ kind, rollout = plainRollout, options }: ClusterUpgradePlan): RolloutPolicy {
  const { preRemediationPowerAction: action, disableHac, disableDpm } = options;
  const changesPower = action !== undefined && action !== "DO_NOT_CHANGE_VMS_POWER_STATE";
  const needsTheProduct = changesPower || disableHac === true || disableDpm === true;
  return kind === "IMAGE" && needsTheProduct ? { ...rollout, hostsAtOnce: 1 } : rollout;
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
