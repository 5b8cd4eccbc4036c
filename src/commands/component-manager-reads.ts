import { versionText } from "../domain/product-version";
import type { ObserveCall } from "../../activities/drivers/call-observation";
import { createNsxClient } from "../../activities/drivers/nsx/nsx-client";
import { createVim25Client } from "../../activities/drivers/vim25/vim25-client";
import { createVlcmClient } from "../../activities/drivers/vlcm/vlcm-client";
import { nameOf } from "../../activities/netvirt/included-groups";
import { managerClients } from "../../activities/manager-clients";
import type { ClusterMember } from "../domain/cluster";
import type { ComponentManagerReads } from "../inventory/file-inventory";
import type { InventoryFile } from "../inventory/inventory-file";

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
