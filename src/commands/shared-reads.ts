import { InFlight } from "../in-flight";
import type { ComponentManagerReads } from "../inventory/file-inventory";

/**
 * Component managers are asked the same thing once at a time: who asks while the answer is on its way gets the same one.
 * A script that starts fifty upgrades, or a flood, costs a component manager no more than one caller does.
 */
export function sharedReads({
  clusters,
  isImageManaged,
  countHosts,
  hosts,
}: ComponentManagerReads): ComponentManagerReads {
  const [ofClusters, ofKinds] = [new InFlight<ReadonlySet<string>>(), new InFlight<boolean>()];
  const ofCounts = new InFlight<number>();
  const key = (componentManagerId: string, cluster: string) => JSON.stringify([componentManagerId, cluster]);
  return {
    clusters: (id) => ofClusters.share(id, () => clusters(id)),
    isImageManaged: (id, cluster) => ofKinds.share(key(id, cluster), () => isImageManaged(id, cluster)),
    countHosts: (id, cluster) => ofCounts.share(key(id, cluster), () => countHosts(id, cluster)),
    hosts,
  };
}
