import { findingsOf } from "../precheck";
import type { BaselinePrecheck } from "./baseline-precheck";

/** The cluster is still managed by baselines, as it was when the upgrade was planned. */
export const clusterBaselineManaged: BaselinePrecheck = {
  type: "CLUSTER_BASELINE_MANAGED",
  name: "Cluster managed by baselines",
  description: "The cluster is managed by baselines, as it was when the upgrade was planned.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, lifecycle, retryPolicy } = input;
    if (!(await retryPolicy.retry(() => lifecycle.isImageManaged(target.cluster.cluster)))) return [];
    return findingsOf(input, [
      {
        code: "CLUSTER_KIND_CHANGED",
        message: `Cluster ${target.cluster.name} is managed by an image, which is not what this upgrade was planned for.`,
        remediation: "Cancel this upgrade and start a new one for the cluster as it is managed now.",
      },
    ]);
  },
};
