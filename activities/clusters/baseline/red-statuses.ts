import type { Vim25Client } from "../../drivers/vim25/vim25-client";
import type { RetryPolicy } from "../../retry-policy";

/**
 * What the component manager itself finds wrong with a cluster and its hosts, by the status that sums up their alarms:
 * those in red, each as it begins a sentence.
 */
export async function redStatuses(client: Vim25Client, retryPolicy: RetryPolicy, cluster: string): Promise<string[]> {
  const { name, health } = await retryPolicy.retry(() => client.readCluster(cluster));
  const hosts = await retryPolicy.retry(() => client.listHosts(cluster));
  return [
    ...hosts.filter((host) => host.health === "red").map((host) => `Host ${host.name}`),
    ...(health === "red" ? [`Cluster ${name}`] : []),
  ];
}
