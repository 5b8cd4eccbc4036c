import { desiredImage, type ClusterState, type HostState, type ScanSnapshot } from "../state/simulator-state";

type HostScan = ScanSnapshot["hosts"][string];

/** Whether a base image version is after another, number by number: `9.0.10-0.1` is after `9.0.2-0.9`. */
export function isNewer(version: string, than: string): boolean {
  const numbers = (text: string) => text.split(/[.-]/).map(Number);
  const [a, b] = [numbers(version), numbers(than)];
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/** How a host compares with a version. Going back is not possible, so a newer host is incompatible. */
export function scanHost(host: HostState, version: string): HostScan {
  const status =
    host.connection !== "CONNECTED"
      ? "UNAVAILABLE"
      : host.version === version
        ? "COMPLIANT"
        : isNewer(host.version, version)
          ? "INCOMPATIBLE"
          : "NON_COMPLIANT";
  return { version: host.version, status, staged: host.stagedVersion === version };
}

/** Compares every host with the desired image, which the cluster must have, and keeps the result as the latest. */
export function scanCluster(cluster: ClusterState, at: number): ScanSnapshot | undefined {
  const desired = desiredImage(cluster);
  if (!desired) return undefined;
  const hosts = Object.fromEntries(cluster.hosts.map((host) => [host.id, scanHost(host, desired.version)]));
  cluster.lastScan = { at, commit: desired.id, version: desired.version, hosts };
  return cluster.lastScan;
}

/** Brings one host up to date in the latest scan, as the product does after a remediation. */
export function rescanHost(cluster: ClusterState, host: HostState): void {
  if (cluster.lastScan) cluster.lastScan.hosts[host.id] = scanHost(host, cluster.lastScan.version);
}
