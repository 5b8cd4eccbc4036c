import type { ClusterTarget } from "../activities/contract";
import type { ClusterUpgradePlan } from "../src/domain/upgrade-plan";

/** What Activities are told of a cluster. Options are part of it only where no policy of the product carries them. */
export function clusterTargetOf(plan: ClusterUpgradePlan): ClusterTarget {
  const { resourceId, name, componentManagerId, cluster, kind, targetVersion, options, customIsoId } = plan;
  return {
    cluster: { resourceId, name, componentManagerId, cluster },
    kind,
    targetVersion,
    ...(kind === "BASELINE" && { options, ...(customIsoId !== undefined && { customIsoId }) }),
  };
}
