import type { SimulatorContext } from "../state/context";
import { differingParts, type Image } from "../state/image-extras";
import { type ClusterState, desiredImage, type HostState, type ScanSnapshot } from "../state/simulator-state";

type HostScan = ScanSnapshot["hosts"][string];

/** Whether a version is after another, number by number: `9.0.10-0.1` is after `9.0.2-0.9`. */
function isNewer(version: string, than: string): boolean {
  const numbers = (text: string) => (text.match(/\d+/g) ?? []).map(Number);
  const [a, b] = [numbers(version), numbers(than)];
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/** Why a host that is not what the image says cannot become it; undefined where it can. */
function refusalOf(
  context: SimulatorContext,
  cluster: ClusterState,
  host: HostState,
  image: Image,
): string | undefined {
  if (isNewer(host.version, image.version)) return "The host is newer than the image.";
  const { components: wanted = {} } = image.extras ?? {};
  const older = Object.entries(host.extras?.components ?? {}).find(
    ([name, version]) => wanted[name] !== undefined && isNewer(version, wanted[name]),
  );
  if (older) return `Component ${older[0]} ${older[1]} of the host cannot be taken back to ${wanted[older[0]]}.`;
  const refused = context.findFault(["IMAGE_REFUSED"], { cluster: cluster.id, host: host.id });
  return refused && imageRefusal(refused.message, host);
}

/** What a host says that cannot take an image. */
export function imageRefusal(message: string | undefined, host: HostState): string {
  return message ?? `The bootbank of host ${host.name} is too small for the image.`;
}

/** How a host compares with an image. Going back is not possible, so a newer host is incompatible. */
function scanHost(context: SimulatorContext, cluster: ClusterState, host: HostState, image: Image): HostScan {
  const isDone = host.version === image.version && differingParts(host.extras, image.extras).length === 0;
  const isConnected = host.connection === "CONNECTED";
  const refusal = isConnected && !isDone ? refusalOf(context, cluster, host, image) : undefined;
  return {
    version: host.version,
    status: !isConnected ? "UNAVAILABLE" : isDone ? "COMPLIANT" : refusal ? "INCOMPATIBLE" : "NON_COMPLIANT",
    staged: host.stagedVersion === image.version,
    ...(host.extras && { extras: host.extras }),
    ...(refusal !== undefined && { refusal }),
  };
}

/** Compares every host with the desired image, which the cluster must have, and keeps the result as the latest. */
export function scanCluster(context: SimulatorContext, cluster: ClusterState, at: number): ScanSnapshot | undefined {
  const desired = desiredImage(cluster);
  if (!desired) return undefined;
  const { id: commit, version, extras } = desired;
  const hosts = Object.fromEntries(cluster.hosts.map((host) => [host.id, scanHost(context, cluster, host, desired)]));
  cluster.lastScan = { at, commit, version, hosts, ...(extras && { extras }) };
  return cluster.lastScan;
}

/** Brings one host up to date in the latest scan, as the product does after a remediation. */
export function rescanHost(context: SimulatorContext, cluster: ClusterState, host: HostState): void {
  if (cluster.lastScan) cluster.lastScan.hosts[host.id] = scanHost(context, cluster, host, cluster.lastScan);
}
