import { perCluster } from "./admission-rule";

/** The most hosts of a cluster that one upgrade takes on (docs/spec-gaps.md, limits). */
export const maximumHosts = 128;

/** No cluster is larger than an upgrade can hold in its history and its Task. */
export const clusterSize = perCluster((cluster, _resource, path) =>
  cluster.hostCount <= maximumHosts
    ? []
    : [
        {
          effect: "NOT_ALLOWED",
          path: `${path}.resourceId`,
          code: "CLUSTER_TOO_LARGE",
          message: `Cluster ${cluster.name} has ${cluster.hostCount} hosts; at most ${maximumHosts} can be upgraded.`,
          remediation: "Split the cluster.",
        },
      ],
);
