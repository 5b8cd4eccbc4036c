import { InFlight } from "../in-flight";
import type { ComponentManagerReads } from "../inventory/file-inventory";
import type { NetvirtGroupRead, Timers } from "../upgrades/ports";

/** How old an answer may be that another request is given; prechecks look for themselves. */
const milliseconds = 500;

/**
 * Component managers are asked the same thing once at a time, and not again for half a second: who asks meanwhile gets the
 * same answer, unless it was a failure. A script that starts fifty upgrades, or a flood, costs a component manager no more
 * than one caller does.
 */
export function sharedReads(
  { clusters, isImageManaged, countHosts, hosts, netvirtGroups }: ComponentManagerReads,
  timers: Timers,
): ComponentManagerReads {
  const kept = { milliseconds, timers };
  const [ofClusters, ofKinds] = [new InFlight<ReadonlySet<string>>(kept), new InFlight<boolean>(kept)];
  const ofGroups = new InFlight<readonly NetvirtGroupRead[]>(kept);
  const ofCounts = new InFlight<number>(kept);
  const key = (componentManagerId: string, cluster: string) => JSON.stringify([componentManagerId, cluster]);
  return {
    clusters: (id) => ofClusters.share(id, () => clusters(id)),
    isImageManaged: (id, cluster) => ofKinds.share(key(id, cluster), () => isImageManaged(id, cluster)),
    countHosts: (id, cluster) => ofCounts.share(key(id, cluster), () => countHosts(id, cluster)),
    netvirtGroups: (id) => ofGroups.share(id, () => netvirtGroups(id)),
    hosts,
  };
}
