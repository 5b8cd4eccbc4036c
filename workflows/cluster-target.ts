import type { ClusterTarget } from "../activities/contract";
import type { ClusterUpgradePlan } from "../src/domain/upgrade-plan";

/** What Activities need of a cluster's plan. */
export function clusterTarget(plan: ClusterUpgradePlan): ClusterTarget {
  const { resourceId, name, componentManagerId, cluster, kind, targetVersion } = plan;
  return { cluster: { resourceId, name, componentManagerId, cluster }, kind, targetVersion };
}
