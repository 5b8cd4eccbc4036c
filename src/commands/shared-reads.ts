import { isLoginRefused } from "../domain/manager-silence";
import { InFlight } from "../in-flight";
import type { ComponentManagerReads } from "../inventory/file-inventory";
import type { NetvirtGroupRead, Timers } from "../upgrades/ports";

/** How old an answer may be that another request is given; prechecks look for themselves. */
const milliseconds = 500;
/** For how long a manager that has refused the service's login is not asked again: it locks the account after a few. */
const refusedMilliseconds = 15_000;

/**
 * Component managers are asked the same thing once at a time, and not again for half a second: who asks meanwhile gets the
 * same answer, unless it was a failure. A script that starts fifty upgrades, or a flood, costs a component manager no more
 * than one caller does. One that has refused the service's login is let be for a while, and the refusal told again.
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
  const refusals = new Map<string, unknown>();
  async function ask<A>(id: string, read: () => Promise<A>): Promise<A> {
    if (refusals.has(id)) throw refusals.get(id);
    try {
      return await read();
    } catch (error) {
      if (isLoginRefused(error) && !refusals.has(id)) {
        refusals.set(id, error);
        timers.after(refusedMilliseconds, () => void refusals.delete(id));
      }
      throw error;
    }
  }
  return {
    clusters: (id) => ask(id, () => ofClusters.share(id, () => clusters(id))),
    isImageManaged: (id, cluster) => ask(id, () => ofKinds.share(key(id, cluster), () => isImageManaged(id, cluster))),
    countHosts: (id, cluster) => ask(id, () => ofCounts.share(key(id, cluster), () => countHosts(id, cluster))),
    netvirtGroups: (id) => ask(id, () => ofGroups.share(id, () => netvirtGroups(id))),
    hosts: (cluster) => ask(cluster.componentManagerId, () => hosts(cluster)),
  };
}
