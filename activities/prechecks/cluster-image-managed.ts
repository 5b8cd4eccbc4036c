import { findingsOf, type Precheck } from "./precheck";

/** The cluster is managed in the way for which the upgrade was planned. */
export const clusterImageManaged: Precheck = {
  type: "CLUSTER_IMAGE_MANAGED",
  name: "Cluster managed as planned",
  description: "The cluster is managed by an image or by baselines, as it was when the upgrade was planned.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const imageManaged = await retryPolicy.retry(() => client.isImageManaged(target.cluster.cluster));
    if (imageManaged === (target.kind === "IMAGE")) return [];
    const now = imageManaged ? "an image" : "baselines";
    return findingsOf(input, [
      {
        code: "CLUSTER_KIND_CHANGED",
        message: `Cluster ${target.cluster.name} is managed by ${now}, which is not what this upgrade was planned for.`,
        remediation: "Cancel this upgrade and start a new one for the cluster as it is managed now.",
      },
    ]);
  },
};
