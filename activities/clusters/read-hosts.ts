import type { ClusterHost } from "../../src/domain/task/host-remediation";
import type { ClusterTarget, HostsToRead, RunningVms } from "../contract";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import type { RetryPolicy } from "../retry-policy";
import { assessHost, readFullCompliance } from "./image/assess-hosts";
import type { ImageInterfaces } from "./image/image-context";

/**
 * The hosts of a cluster by their names, which is the order of their upgrade: the same on every read. A host is at the
 * target only where the component manager has judged it by the target image.
 */
export async function readClusterHosts(
  { client, management, maintenance }: ImageInterfaces,
  retryPolicy: RetryPolicy,
  target: HostsToRead,
): Promise<ClusterHost[]> {
  const { cluster } = target.cluster;
  const hosts = await retryPolicy.retry(() => client.listHosts(cluster));
  const inside = await maintenance.inMaintenance(cluster, retryPolicy);
  const ids = hosts.map(({ host }) => host);
  const scanned = await readFullCompliance(client, retryPolicy, cluster, ids);
  const stopped = await findStoppedVms(management, retryPolicy, target);
  return inUpgradeOrder(
    hosts.map(({ host, name, connection_state }) => {
      const { version, atTarget } = assessHost(scanned, host, target);
      return {
        host,
        fqdn: name,
        version,
        atTarget,
        ...standingOf(connection_state, inside.has(host)),
        ...stopped(host),
      };
    }),
  );
}

/**
 * Tells for each host the virtual machines on it that the upgrade has switched off and that do not run now. What is being
 * started at this moment is not among them.
 */
export async function findStoppedVms(
  management: Vim25Client,
  retryPolicy: RetryPolicy,
  { cluster: { cluster }, switchedOff = [] }: HostsToRead,
): Promise<(host: string) => Pick<ClusterHost, "stoppedVms">> {
  if (switchedOff.length === 0) return () => ({});
  const ours = new Set(switchedOff);
  const vms = await retryPolicy.retry(() => management.listVms(cluster));
  const stopped = vms.filter(({ vm, power }) => ours.has(vm) && power !== "poweredOn");
  return (id) => {
    const stoppedVms = stopped.filter(({ host }) => host === id).map(({ name }) => name);
    return stoppedVms.length > 0 ? { stoppedVms } : {};
  };
}

/** What keeps a host from its work, if anything does. */
export function standingOf(
  connection: string,
  inMaintenanceMode: boolean,
): Pick<ClusterHost, "connection" | "inMaintenanceMode"> {
  const state = connection.toLowerCase();
  return {
    ...(state !== "connected" && { connection: state }),
    ...(inMaintenanceMode && { inMaintenanceMode: true as const }),
  };
}

/** Hosts by their names: the same order on every read. */
export function inUpgradeOrder(hosts: readonly ClusterHost[]): ClusterHost[] {
  return [...hosts].sort((a, b) => (a.fqdn === b.fqdn ? compareText(a.host, b.host) : compareText(a.fqdn, b.fqdn)));
}

/** By code unit, so that the order depends on no locale. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The virtual machines that run on some hosts of a cluster now. */
export async function readRunningVms(
  client: Vim25Client,
  retryPolicy: RetryPolicy,
  { cluster: { cluster }, hosts }: ClusterTarget & { hosts: readonly Pick<ClusterHost, "host">[] },
): Promise<RunningVms> {
  const vms = await retryPolicy.retry(() => client.listVms(cluster));
  return Object.fromEntries(
    hosts.map(({ host }) => [
      host,
      vms.filter((vm) => vm.host === host && vm.power === "poweredOn").map(({ vm }) => vm),
    ]),
  );
}
