import type { ClusterState, HostState } from "../state/simulator-state";
import { alignWithCounts } from "./named-vms";
import type { Vim25Cluster, Vim25Vm } from "./vim25-state";

/** When every host is taken to have started before anything happened to it. */
const firstBoot = Date.parse("2026-01-01T06:00:00.000Z");

/** Virtual machines as the other APIs count them, with names and ids that are always the same. */
function countedVms(host: HostState): Vim25Vm[] {
  const powers = [
    ...Array.from({ length: host.poweredOnVms }, () => "poweredOn" as const),
    ...Array.from({ length: host.poweredOffVms }, () => "poweredOff" as const),
    ...Array.from({ length: host.suspendedVms + (host.suspendedToMemoryVms ?? 0) }, () => "suspended" as const),
  ];
  const number = host.id.replace(/\D/g, "");
  return powers.map((power, i) => {
    const place = String(i + 1).padStart(3, "0");
    return { id: `vm-${number}${place}`, name: `${host.name.split(".")[0]}-vm-${place}`, host: host.id, power };
  });
}

/**
 * The virtual machines of a cluster. Those of an image-managed one are counted by the other APIs, and have had no names
 * to keep until this API has changed something.
 */
export function vmsOf(cluster: ClusterState): readonly Vim25Vm[] {
  const own = cluster.vim25?.vms;
  if (own && cluster.management === "IMAGE") alignWithCounts(own, cluster.hosts);
  return own ?? cluster.hosts.flatMap(countedVms);
}

/** Those of one host. */
export function vmsOn(cluster: ClusterState, host: HostState): readonly Vim25Vm[] {
  return cluster.vim25 ? vmsOf(cluster).filter((vm) => vm.host === host.id) : countedVms(host);
}

/** The part of a cluster's state that this API changes; made from what the other APIs know when first needed. */
export function vim25Of(cluster: ClusterState): Vim25Cluster {
  cluster.vim25 ??= { vms: cluster.hosts.flatMap(countedVms), tasks: [], hosts: {} };
  return cluster.vim25;
}

/** What is known of one host, to be changed in place. */
export function vim25HostOf(cluster: ClusterState, host: string): Vim25Cluster["hosts"][string] {
  return (vim25Of(cluster).hosts[host] ??= { bootTime: firstBoot });
}

/** When a host last started, in epoch milliseconds. */
export function bootTimeOf(cluster: ClusterState, host: string): number {
  return cluster.vim25?.hosts[host]?.bootTime ?? firstBoot;
}

/** Brings the counts that the other APIs show in line with the virtual machines. */
export function recount(cluster: ClusterState): void {
  const { vms } = vim25Of(cluster);
  for (const host of cluster.hosts) {
    const of = (power: Vim25Vm["power"]) => vms.filter((vm) => vm.host === host.id && vm.power === power).length;
    host.poweredOnVms = of("poweredOn");
    host.poweredOffVms = of("poweredOff");
    host.suspendedVms = of("suspended") - (host.suspendedToMemoryVms ?? 0);
  }
}

/** Hosts that can take virtual machines from another. */
export function receivers(cluster: ClusterState, host: HostState): readonly HostState[] {
  return cluster.hosts.filter((h) => h.id !== host.id && h.connection === "CONNECTED" && h.maintenance === "OUT");
}

/** Moves what has to leave a host to the others, and remembers where it came from. */
export function moveAway(cluster: ClusterState, host: HostState, evacuatePoweredOffVms: boolean): void {
  const others = receivers(cluster, host);
  const leaving = vim25Of(cluster).vms.filter(
    (vm) => vm.host === host.id && (vm.power === "poweredOn" || (evacuatePoweredOffVms && vm.power === "poweredOff")),
  );
  leaving.forEach((vm, i) => {
    const other = others[i % others.length];
    if (!other) return;
    vm.home ??= host.id;
    vm.host = other.id;
  });
  recount(cluster);
}

/** Brings back what had left a host, as the scheduler does when it is free again. */
export function moveBack(cluster: ClusterState, host: HostState): void {
  for (const vm of vim25Of(cluster).vms) {
    if (vm.home !== host.id) continue;
    vm.host = host.id;
    delete vm.home;
  }
  recount(cluster);
}
