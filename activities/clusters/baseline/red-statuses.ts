import type { Vim25Client } from "../../drivers/vim25/vim25-client";
import { isInScope } from "../../../src/domain/plan/host-scope";
import type { ClusterTarget } from "../../contract";
import type { RetryPolicy } from "../../retry-policy";

/**
 * What the component manager itself finds wrong with a cluster and its hosts, by the status that sums up their alarms:
 * those in red, each as it begins a sentence. Hosts that the upgrade is not about may have any.
 */
export async function redStatuses(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  { cluster: { cluster }, scope }: Pick<ClusterTarget, "cluster" | "scope">,
): Promise<string[]> {
  const { name, health } = await retryPolicy.retry(() => client.readCluster(cluster));
  const hosts = await retryPolicy.retry(() => client.listHosts(cluster));
  const isOfOthers = hosts.some(({ host, health: of }) => of === "red" && !isInScope(scope, host));
  return [
    ...hosts
      .filter(({ host, health }) => health === "red" && isInScope(scope, host))
      .map((host) => `Host ${host.name}`),
    ...(health === "red" && !isOfOthers ? [`Cluster ${name}`] : []),
  ];
}
