import { compareVersions } from "../version";
import { perCluster } from "./admission-rule";

/** The lowest platform version whose resources can be upgraded (Spec 1, 9). */
export const lowestPlatform = "3.5";

/** The platform of every cluster is at bill-of-materials version 3.5 or above (Spec 1, 9). */
export const platformVersion = perCluster((cluster, _resource, path) =>
  compareVersions(cluster.platformVersion, lowestPlatform) >= 0
    ? []
    : [
        {
          effect: "NOT_ALLOWED",
          path: `${path}.resourceId`,
          code: "PLATFORM_TOO_OLD",
          message: `Cluster ${cluster.name} belongs to a platform of version ${cluster.platformVersion}; upgrades need ${lowestPlatform} or above.`,
          remediation: `Bring the platform to version ${lowestPlatform} first.`,
        },
      ],
);
