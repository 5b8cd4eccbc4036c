import type { ClusterState, HostState } from "../state/simulator-state";
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

type Power = Vim25Vm["power"];
const powers: readonly Power[] = ["poweredOn", "poweredOff", "suspended"];

const keyOf = (host: string, power: Power) => `${host} ${power}`;

/** How many virtual machines of a power the other APIs count on a host. */
function counted(host: HostState, power: Power): number {
  if (power === "poweredOn") return host.poweredOnVms;
  return power === "poweredOff" ? host.poweredOffVms : host.suspendedVms + (host.suspendedToMemoryVms ?? 0);
}

/**
 * Brings the named virtual machines of an image-managed cluster in line with what the lifecycle manager counts, which
 * moves and switches off without names. A virtual machine that was moved or switched off so remembers how it was, and
 * is the first to be so again.
 */
function alignWithCounts(vms: readonly Vim25Vm[], hosts: readonly HostState[]): void {
  const groups = new Map<string, Vim25Vm[]>();
  for (const vm of vms) {
    const key = keyOf(vm.host, vm.power);
    const group = groups.get(key);
    if (group) group.push(vm);
    else groups.set(key, [vm]);
  }
  const spare = new Set<Vim25Vm>();
  const missing: { readonly host: string; readonly power: Power; readonly count: number }[] = [];
  for (const host of hosts)
    for (const power of powers) {
      const here = groups.get(keyOf(host.id, power)) ?? [];
      const wanted = counted(host, power);
      if (here.length < wanted) missing.push({ host: host.id, power, count: wanted - here.length });
      // Guests leave first.
      else if (here.length > wanted)
        for (const vm of [...here].sort((a, b) => strangeness(a) - strangeness(b)).slice(wanted)) spare.add(vm);
    }
  for (const { host, power, count } of missing)
    for (let i = 0; i < count; i++) {
      const [best] = [...spare].sort((a, b) => distance(a, host, power) - distance(b, host, power));
      if (!best) return;
      spare.delete(best);
      place(best, host, power);
    }
}

/** How much a virtual machine differs from how it was. */
function strangeness({ home, was }: Vim25Vm): number {
  return (home === undefined ? 0 : 1) + (was === undefined ? 0 : 1);
}

/** How far a place and power are from what the virtual machine had. */
function distance({ host, home = host, power, was = power }: Vim25Vm, newHost: string, newPower: Power): number {
  return (was === newPower ? 0 : 2) + (home === newHost ? 0 : 1);
}

function place(vm: Vim25Vm, host: string, power: Power): void {
  const { home = vm.host, was = vm.power } = vm;
  vm.host = host;
  vm.power = power;
  delete vm.home;
  delete vm.was;
  if (home !== host) vm.home = home;
  if (was !== power) vm.was = was;
}
