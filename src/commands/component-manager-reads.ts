import { createVlcmClient, type VlcmClient } from "../../activities/drivers/vlcm/vlcm-client";
import type { ComponentManagerReads } from "../inventory/file-inventory";
import type { InventoryFile } from "../inventory/inventory-file";

/** A request waits for these reads, so they get less time than the same reads in an upgrade (milliseconds). */
const callTimeout = 5000;

/** The driver's reads for the inventory, one client and so one session per component manager. */
export function componentManagerReads({ componentManagers }: InventoryFile): ComponentManagerReads & {
  close(): Promise<void>;
} {
  const clients = new Map<string, VlcmClient>();
  for (const [id, access] of componentManagers) clients.set(id, createVlcmClient(access, { callTimeout }));
  const clientOf = (id: string): VlcmClient => {
    const client = clients.get(id);
    if (!client) throw new Error(`The inventory has no component manager ${id}`);
    return client;
  };
  return {
    clusters: async (id) => new Set((await clientOf(id).listClusters()).map(({ cluster }) => cluster)),
    isImageManaged: (id, cluster) => clientOf(id).isImageManaged(cluster),
    countHosts: async (id, cluster) => (await clientOf(id).listHosts(cluster)).length,
    close: async () => {
      await Promise.allSettled([...clients.values()].map((client) => client.close()));
    },
  };
}
