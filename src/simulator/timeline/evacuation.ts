import type { EffectivePolicy } from "../state/remediation-policy";
import type { ClusterState, Evacuation, HostState } from "../state/simulator-state";

const receivers = (cluster: ClusterState, host: HostState) =>
  cluster.hosts.filter((h) => h.id !== host.id && h.connection === "CONNECTED" && h.maintenance === "OUT");

/** Why the VMs of a host cannot leave it, or undefined where they can. */
export function evacuationObstacle(
  cluster: ClusterState,
  host: HostState,
  policy: EffectivePolicy,
): string | undefined {
  const moves = policy.pre_remediation_power_action === "DO_NOT_CHANGE_VMS_POWER_STATE" && host.poweredOnVms > 0;
  return moves && receivers(cluster, host).length === 0
    ? `No other host of cluster ${cluster.name} can take the running VMs of host ${host.name}.`
    : undefined;
}

/** What became of a host's VMs when it entered maintenance mode, in words for the ledger. */
export function describeEvacuation(policy: EffectivePolicy, { evacuation }: HostState): string {
  const sum = (counts: Record<string, number> = {}) => Object.values(counts).reduce((a, b) => a + b, 0);
  const parts: [number, string][] = [
    [sum(evacuation?.running), "VMs moved"],
    [evacuation?.poweredOff ?? 0, "VMs powered off"],
    [evacuation?.suspended ?? 0, "VMs suspended"],
    [evacuation?.suspendedToMemory ?? 0, "VMs suspended to memory"],
    [sum(evacuation?.offline), "powered-off VMs moved"],
  ];
  const told = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return `${policy.pre_remediation_power_action}: ${told.join(", ") || "no VMs"}`;
}

/** Spreads VMs over hosts as evenly as it goes; answers how many went to each. */
function spread(count: number, hosts: readonly HostState[]): Record<string, number> {
  if (hosts.length === 0) return {};
  const each = Math.floor(count / hosts.length);
  const shares = hosts.map((host, i) => [host.id, each + (i < count % hosts.length ? 1 : 0)] as const);
  return Object.fromEntries(shares.filter(([, share]) => share > 0));
}

/** Empties a host for maintenance as the policy says and remembers on the host what was done. */
export function evacuate(cluster: ClusterState, host: HostState, policy: EffectivePolicy): void {
  const others = receivers(cluster, host);
  const evacuation: Evacuation = { running: {}, offline: {}, poweredOff: 0, suspended: 0 };
  switch (policy.pre_remediation_power_action) {
    case "POWER_OFF_VMS":
      evacuation.poweredOff = host.poweredOnVms;
      host.poweredOffVms += host.poweredOnVms;
      host.poweredOnVms = 0;
      break;
    case "SUSPEND_VMS_TO_MEMORY":
      evacuation.suspendedToMemory = host.poweredOnVms;
      host.suspendedToMemoryVms = (host.suspendedToMemoryVms ?? 0) + host.poweredOnVms;
      host.poweredOnVms = 0;
      break;
    case "SUSPEND_VMS":
      evacuation.suspended = host.poweredOnVms;
      host.suspendedVms += host.poweredOnVms;
      host.poweredOnVms = 0;
      break;
    case "DO_NOT_CHANGE_VMS_POWER_STATE":
      evacuation.running = spread(host.poweredOnVms, others);
      if (others.length > 0) host.poweredOnVms = 0;
      break;
  }
  if (policy.evacuate_offline_vms && others.length > 0) {
    // VMs that this remediation has just powered off stay, to be powered on again where they are.
    evacuation.offline = spread(host.poweredOffVms - evacuation.poweredOff, others);
    host.poweredOffVms = evacuation.poweredOff;
  }
  for (const other of others) {
    other.poweredOnVms += evacuation.running[other.id] ?? 0;
    other.poweredOffVms += evacuation.offline[other.id] ?? 0;
  }
  host.evacuation = evacuation;
}

/** Undoes {@link evacuate}: every VM is back on its host in the power state that it had. */
export function bringBack(cluster: ClusterState, host: HostState): void {
  const { evacuation } = host;
  if (!evacuation) return;
  for (const other of cluster.hosts) {
    const running = evacuation.running[other.id] ?? 0;
    // Some may have been switched on where they went.
    const offline = Math.min(evacuation.offline[other.id] ?? 0, other.poweredOffVms);
    other.poweredOnVms -= running;
    other.poweredOffVms -= offline;
    host.poweredOnVms += running;
    host.poweredOffVms += offline;
  }
  host.poweredOffVms -= evacuation.poweredOff;
  host.suspendedVms -= evacuation.suspended;
  const { suspendedToMemory = 0 } = evacuation;
  if (suspendedToMemory > 0) {
    const left = (host.suspendedToMemoryVms ?? 0) - suspendedToMemory;
    delete host.suspendedToMemoryVms;
    if (left > 0) host.suspendedToMemoryVms = left;
  }
  host.poweredOnVms += evacuation.poweredOff + evacuation.suspended + suspendedToMemory;
  delete host.evacuation;
}
