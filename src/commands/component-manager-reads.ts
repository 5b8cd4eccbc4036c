import type { ObserveCall } from "../../activities/drivers/call-observation";
import { CredentialTries } from "../../activities/drivers/component-manager-access";
import { createNsxClient } from "../../activities/drivers/nsx/nsx-client";
import { createVim25Client } from "../../activities/drivers/vim25/vim25-client";
import { createVlcmClient } from "../../activities/drivers/vlcm/vlcm-client";
import { managerClients } from "../../activities/manager-clients";
import { nameOf } from "../../activities/netvirt/netvirt-settings";
import { monotonicClock } from "../clock";
import { isLoginRefused } from "../domain/manager-silence";
import type { ClusterMember } from "../domain/spec/cluster";
import { versionText } from "../domain/version";
import type { ComponentManagerReads } from "../inventory/file-inventory";
import type { InventoryFile } from "../inventory/inventory-file";
import { SingleFlight } from "../single-flight";
import type { NetvirtGroupRead, Timers } from "../upgrades/ports";

/** A request waits for these reads, so they get less time than the same reads in an upgrade (milliseconds). */
const callTimeout = 5000;

/** The drivers' reads for the inventory, one client and so one session per component manager and interface. */
export function componentManagerReads(
  { componentManagers }: InventoryFile,
  observe: ObserveCall,
): ComponentManagerReads & {
  close(): Promise<void>;
} {
  const opened: { close(): Promise<void> }[] = [];
  const keep = <C extends { close(): Promise<void> }>(client: C): C => {
    opened.push(client);
    return client;
  };
  const access = (id: string) => componentManagers.get(id);
  const vlcm = managerClients(access, (found) => keep(createVlcmClient(found, { callTimeout, observe })));
  const vim25 = managerClients(access, (found) => keep(createVim25Client(found, { callTimeout, observe })));
  const nsx = managerClients(access, (found) => keep(createNsxClient(found, { callTimeout, observe })));
  return {
    clusters: async (id) => new Set((await vlcm(id).listClusters()).map(({ cluster }) => cluster)),
    isImageManaged: async (id, cluster) => vlcm(id).isImageManaged(cluster),
    countHosts: async (id, cluster) => (await vlcm(id).listHosts(cluster)).length,
    hosts: async ({ componentManagerId: id, cluster, kind }) => {
      if (kind === "BASELINE") {
        const hosts = await vim25(id).listHosts(cluster);
        return byName(hosts.map(({ host, name, product }) => memberOf(host, name, versionText(product))));
      }
      const client = vlcm(id);
      const [hosts, scanned] = await Promise.all([client.listHosts(cluster), client.readCompliance(cluster)]);
      return byName(
        hosts.map(({ host, name }) => memberOf(host, name, scanned?.hosts[host]?.base_image.current.version)),
      );
    },
    netvirtGroups: async (id) => {
      const groups = await Promise.all(
        (["HOST", "EDGE"] as const).map(async (type) =>
          (await nsx(id).listGroups(type)).map((group) => ({
            type,
            id: group.id,
            name: nameOf(group),
          })),
        ),
      );
      return groups.flat();
    },
    close: async () => {
      await Promise.allSettled(opened.map((client) => client.close()));
    },
  };
}

/** Without a version where the manager does not know it. */
function memberOf(id: string, fqdn: string, version = ""): ClusterMember {
  return { id, fqdn, ...(version !== "" && { version }) };
}

function byName(hosts: ClusterMember[]): ClusterMember[] {
  return hosts.sort((a, b) => (a.fqdn < b.fqdn ? -1 : 1));
}

/** How old an answer may be that another request is given; prechecks look for themselves. */
const milliseconds = 500;
/** For how long a manager that has refused the service's login is not asked again at first (milliseconds). */
const firstPause = 15_000;

/**
 * Component managers are asked the same thing once at a time, and not again for half a second: who asks meanwhile gets the
 * same answer, unless it was a failure. A script that starts fifty upgrades, or a flood, costs a component manager no more
 * than one caller does. One that has refused the service's login is left alone for a while; callers get the same refusal.
 */
export function coalescedReads(
  { clusters, isImageManaged, countHosts, hosts, netvirtGroups }: ComponentManagerReads,
  timers: Timers,
  now: () => number = () => monotonicClock.now(),
): ComponentManagerReads {
  const kept = { milliseconds, timers };
  const [ofClusters, ofKinds] = [new SingleFlight<ReadonlySet<string>>(kept), new SingleFlight<boolean>(kept)];
  const ofGroups = new SingleFlight<readonly NetvirtGroupRead[]>(kept);
  const ofCounts = new SingleFlight<number>(kept);
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
