import type { ClusterTarget, MgmtPrecheckInput, NetvirtTarget } from "../activities/contract";
import { ownOptionsOf } from "../src/domain/rollout";
import type { ClusterUpgradePlan, MgmtUpgradePlan, NetvirtUpgradePlan } from "../src/domain/upgrade-plan";

/** What Activities need of a cluster's plan. Of its options only those that no policy of the product carries. */
export function clusterTarget(plan: ClusterUpgradePlan, upgradeId?: string): ClusterTarget {
  const { resourceId, name, componentManagerId, cluster, kind, targetVersion, image, options, customIsoId } = plan;
  const ownOptions = ownOptionsOf(plan);
  return {
    cluster: { resourceId, name, componentManagerId, cluster },
    kind,
    targetVersion,
    ...(upgradeId !== undefined && { upgradeId }),
    ...(image && { image }),
    ...(ownOptions && { ownOptions }),
    ...(kind === "BASELINE" && { options, ...(customIsoId !== undefined && { customIsoId }) }),
  };
}

/** What Activities need of a NETVIRT instance's plan. */
export function netvirtTarget(plan: NetvirtUpgradePlan): NetvirtTarget {
  const { resourceId, name, componentManagerId, targetVersion, options } = plan;
  return { netvirt: { resourceId, name, componentManagerId }, targetVersion, options };
}

/** What Activities need of a management server's plan. */
export function mgmtTarget(plan: MgmtUpgradePlan): MgmtPrecheckInput {
  const { resourceId, name, componentManagerId, targetVersion, mechanism, temporaryNetwork } = plan;
  return {
    server: { resourceId, name, componentManagerId },
    targetVersion,
    mechanism,
    ...(temporaryNetwork && { temporaryNetwork }),
  };
}
