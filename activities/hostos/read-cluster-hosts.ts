import type { ClusterHost } from "../../src/domain/host-remediation";
import { assessHost, readFullCompliance } from "../host-assessment";
import type { ClusterTarget } from "../contract";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { ClusterCompliance, HostSummary } from "../drivers/vlcm/vlcm-models";
import type { RetryPolicy } from "../retry-policy";

/**
 * The hosts of a cluster by their names, which is the order of their upgrade: the same on every read. A host is at the
 * target only where the component manager has judged it by the target image.
 */
export async function readClusterHosts(
  client: VlcmClient,
  retryPolicy: RetryPolicy,
  target: ClusterTarget,
): Promise<ClusterHost[]> {
  const { cluster } = target.cluster;
  const hosts = await retryPolicy.retry(() => client.listHosts(cluster));
  const ids = hosts.map(({ host }) => host);
  return assessed(hosts, await readFullCompliance(client, retryPolicy, cluster, ids), target);
}

function assessed(
  hosts: readonly HostSummary[],
  scanned: ClusterCompliance | undefined,
  target: ClusterTarget,
): ClusterHost[] {
  return inUpgradeOrder(
    hosts.map(({ host, name }) => {
      const { version, atTarget } = assessHost(scanned, host, target);
      return { host, fqdn: name, version, atTarget };
    }),
  );
}

/** Hosts by their names: the same order on every read. */
export function inUpgradeOrder(hosts: readonly ClusterHost[]): ClusterHost[] {
  return [...hosts].sort((a, b) => (a.fqdn === b.fqdn ? compareText(a.host, b.host) : compareText(a.fqdn, b.fqdn)));
}

/** By code unit, so that the order depends on no locale. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
