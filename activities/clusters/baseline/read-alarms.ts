import type { Vim25Client } from "../../drivers/vim25/vim25-client";
import { isInScope } from "../../../src/domain/plan/host-scope";
import type { ClusterTarget } from "../../contract";
import type { RetryPolicy } from "../../retry-policy";

/** Alarms of a cluster or host, summed up in a status. */
interface Alarms {
  /** As it begins a sentence. */
  readonly title: string;
  readonly status: "red" | "yellow";
  /** Absent where it is the cluster. */
  readonly host?: { readonly id: string; readonly name: string };
}

/**
 * What the component manager itself finds wrong with a cluster and its hosts, by the status that sums up their alarms.
 * Hosts that the upgrade is not about may have any.
 */
export async function readAlarms(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  { cluster: { cluster }, scope }: Pick<ClusterTarget, "cluster" | "scope">,
): Promise<readonly Alarms[]> {
  const { name, health } = await retryPolicy.retry(() => client.readCluster(cluster));
  const hosts = await retryPolicy.retry(() => client.listHosts(cluster));
  const isOfOthers = hosts.some((one) => one.health === health && !isInScope(scope, one.host));
  return [
    ...hosts
      .filter(({ host }) => isInScope(scope, host))
      .flatMap((one): Alarms[] => {
        const { host: id, name: title, health: status } = one;
        return isBad(status) ? [{ title: `Host ${title}`, status, host: { id, name: title } }] : [];
      }),
    ...(isBad(health) && !isOfOthers ? [{ title: `Cluster ${name}`, status: health }] : []),
  ];
}

function isBad(status: string): status is Alarms["status"] {
  return status === "red" || status === "yellow";
}
