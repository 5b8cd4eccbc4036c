import { lowestPlatform } from "../../domain/admission/bundle-rules";
import { maximumHosts } from "../../domain/admission/cluster-rules";
import { upgradeTitle } from "../../domain/names";
import type { Cluster } from "../../domain/spec/cluster";
import { compareVersions } from "../../domain/version";

/** Why a cluster cannot be upgraded now, in a few words, by the same bounds as the service's; undefined where it can. */
export function obstacleOf(cluster: Cluster): string | undefined {
  const { heldBy, heldByName } = cluster;
  return heldBy === undefined
    ? unfitnessOf(cluster)
    : `Locked until ${upgradeTitle({ id: heldBy, name: heldByName })} ends.`;
}

/** Why a cluster cannot even be checked, whoever has locked it; undefined where it can. */
export function unfitnessOf({ platformVersion, hostCount = 0 }: Cluster): string | undefined {
  if (compareVersions(platformVersion, lowestPlatform) < 0)
    return `Its platform is ${platformVersion}; upgrades need ${lowestPlatform} or above.`;
  if (hostCount > maximumHosts) return `It has ${hostCount} hosts; at most ${maximumHosts} can be upgraded.`;
  return undefined;
}
