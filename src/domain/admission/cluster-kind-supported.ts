import { perCluster } from "./admission-rule";

/** Every cluster is managed by an image; baseline-managed ones cannot be upgraded yet. */
export const clusterKindSupported = perCluster((cluster, _resource, path) =>
  cluster.kind === "IMAGE"
    ? []
    : [
        {
          effect: "NOT_ALLOWED",
          path: `${path}.resourceId`,
          code: "CLUSTER_KIND_NOT_SUPPORTED",
          message: `Cluster ${cluster.name} is managed by baselines; this service upgrades image-managed clusters only so far.`,
          remediation: "Leave this cluster out, or convert it to image-based management first.",
        },
      ],
);
