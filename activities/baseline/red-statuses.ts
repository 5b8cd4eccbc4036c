import type { Vim25Client } from "../drivers/vim25/vim25-client";
import type { Patience } from "../patience";

/** A host, or without one the cluster itself, that the component manager shows a red alarm for. */
export interface RedStatus {
  readonly host?: string;
  /** As it begins a sentence. */
  readonly title: string;
}

/** What the component manager itself finds wrong with a cluster and its hosts: the status that sums up their alarms. */
export async function redStatuses(client: Vim25Client, patience: Patience, cluster: string): Promise<RedStatus[]> {
  const { name, health } = await patience.persist(() => client.readCluster(cluster));
  const hosts = await patience.persist(() => client.listHosts(cluster));
  return [
    ...hosts.filter((host) => host.health === "red").map((host) => ({ host: host.host, title: `Host ${host.name}` })),
    ...(health === "red" ? [{ title: `Cluster ${name}` }] : []),
  ];
}
