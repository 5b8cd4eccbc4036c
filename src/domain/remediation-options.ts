import type { HostRemediationOptions } from "./host-remediation";
import type { ResourceUpgradeSpec } from "./upgrade-spec";

/**
 * What a request asks of the hosts of one cluster. The flags that exist twice are taken from the options; the
 * resource's own are the older form (docs/spec-gaps.md, flags that exist twice).
 */
export function remediationOptions(spec: Omit<ResourceUpgradeSpec, "resourceId">): HostRemediationOptions {
  const { hostosUpgradeFailureAction: _ours, ...options } = spec.hostosUpgradeOptionsSpec ?? {};
  return {
    ...(spec.enableQuickboot !== undefined && { enableQuickboot: spec.enableQuickboot }),
    ...(spec.evacuateOfflineVms !== undefined && { evacuateOfflineVms: spec.evacuateOfflineVms }),
    ...(spec.shutdownVms === true && { preRemediationPowerAction: "POWER_OFF_VMS" }),
    ...options,
  };
}
