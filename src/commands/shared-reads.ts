import { isLoginRefused } from "../domain/manager-silence";
import { InFlight } from "../in-flight";
import type { ComponentManagerReads } from "../inventory/file-inventory";
import type { NetvirtGroupRead, Timers } from "../upgrades/ports";

/** How old an answer may be that another request is given; prechecks look for themselves. */
const milliseconds = 500;
/**
 * For how long a manager that has refused the service's login is not asked again, three times as long after each further
 * refusal: it locks the account after a few (milliseconds).
 */
const pause = { first: 15_000, longest: 600_000 };

/**
 * Component managers are asked the same thing once at a time, and not again for half a second: who asks meanwhile gets the
 * same answer, unless it was a failure. A script that starts fifty upgrades, or a flood, costs a component manager no more
 * than one caller does. One that has refused the service's login is left alone for a while; callers get the same refusal.
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
  /** Of managers that have refused the login: the refusal while they are left alone, and how many there were. */
  const refusals = new Map<string, { readonly count: number; readonly error?: Error }>();
  async function ask<A>(id: string, read: () => Promise<A>): Promise<A> {
    const before = refusals.get(id);
    if (before?.error !== undefined) throw before.error;
    try {
      const answer = await read();
      refusals.delete(id);
      return answer;
    } catch (error) {
      // Several reads may have been refused by one login.
      if (isLoginRefused(error) && refusals.get(id) === before) {
        const count = (before?.count ?? 0) + 1;
        refusals.set(id, { count, error });
        const alone = Math.min(pause.longest, pause.first * 3 ** (count - 1));
        timers.after(alone, () => void refusals.set(id, { count }));
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
