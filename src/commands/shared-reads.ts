import { CredentialTries } from "../../activities/drivers/credential-tries";
import { monotonicClock } from "../clock";
import { isLoginRefused } from "../domain/manager-silence";
import { InFlight } from "../in-flight";
import type { ComponentManagerReads } from "../inventory/file-inventory";
import type { NetvirtGroupRead, Timers } from "../upgrades/ports";

/** How old an answer may be that another request is given; prechecks look for themselves. */
const milliseconds = 500;
/** For how long a manager that has refused the service's login is not asked again at first (milliseconds). */
const firstPause = 15_000;

/**
 * Component managers are asked the same thing once at a time, and not again for half a second: who asks meanwhile gets the
 * same answer, unless it was a failure. A script that starts fifty upgrades, or a flood, costs a component manager no more
 * than one caller does. One that has refused the service's login is left alone for a while; callers get the same refusal.
 */
export function sharedReads(
  { clusters, isImageManaged, countHosts, hosts, netvirtGroups }: ComponentManagerReads,
  timers: Timers,
  now: () => number = () => monotonicClock.now(),
): ComponentManagerReads {
  const kept = { milliseconds, timers };
  const [ofClusters, ofKinds] = [new InFlight<ReadonlySet<string>>(kept), new InFlight<boolean>(kept)];
  const ofGroups = new InFlight<readonly NetvirtGroupRead[]>(kept);
  const ofCounts = new InFlight<number>(kept);
  const key = (componentManagerId: string, cluster: string) => JSON.stringify([componentManagerId, cluster]);
  const logins = new Map<string, { readonly tries: CredentialTries; refusal?: Error }>();
  async function ask<A>(id: string, read: () => Promise<A>): Promise<A> {
    const login = logins.get(id) ?? { tries: new CredentialTries() };
    logins.set(id, login);
    if (login.refusal && login.tries.isPausedAt(now())) throw login.refusal;
    try {
      const answer = await read();
      login.tries.accepted();
      return answer;
    } catch (error) {
      if (isLoginRefused(error)) {
        login.refusal = error;
        login.tries.refused(now(), firstPause);
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
