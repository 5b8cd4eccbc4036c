import type { HostState } from "../state/simulator-state";
import type { Vim25Vm } from "./vim25-state";

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
export function alignWithCounts(vms: readonly Vim25Vm[], hosts: readonly HostState[]): void {
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
