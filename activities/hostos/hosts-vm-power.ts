import { changeVmPower, fewOf, powerActionOf } from "../baseline/change-vm-power";
import type { VmPowerAction } from "../drivers/vim25/vim25-client";
import type { Vim25Vm } from "../drivers/vim25/vim25-models";
import type { HostsRemediationContext } from "./hosts-context";

/** Names of virtual machines that an error of a host tells; it has to fit among those of many. */
const namesShown = 3;

/** Hosts by their places, and what is wrong with each, in words that go on after the host's name. */
type Troubles = ReadonlyMap<number, string>;

/**
 * Switches off what runs on hosts, as the upgrade asks and only what was recorded before. Gives the hosts on which
 * something runs on.
 */
export async function switchOffVms(context: HostsRemediationContext, places: readonly number[]): Promise<Troubles> {
  const { input } = context;
  const action = powerActionOf(input.ownOptions ?? {});
  if (!action || !input.runningVms) return new Map();
  const recorded = new Set(Object.values(input.runningVms).flat());
  const placeOf = new Map(places.map((place) => [input.hosts[place]?.host, place]));
  const isMeant = ({ vm, host, power }: Vim25Vm) => power === "poweredOn" && placeOf.has(host) && recorded.has(vm);
  const { left, reasons } = await change(context, action, recorded, isMeant);
  return troublesOf(
    left,
    ({ host }) => placeOf.get(host),
    (names) => withReason(`has virtual machines that could not be switched off (${names})`, reasons),
  );
}

/**
 * Starts those of the recorded virtual machines that do not run now, wherever they are. Gives the hosts on which those
 * ran that do not start.
 */
export async function startVms(context: HostsRemediationContext): Promise<Troubles> {
  const { input } = context;
  const placeOf = placesOfVms(context);
  if (placeOf.size === 0 || !powerActionOf(input.ownOptions ?? {})) return new Map();
  const isMeant = ({ vm, power }: Vim25Vm) => power !== "poweredOn" && placeOf.has(vm);
  const { left, reasons } = await change(context, "PowerOnVM", new Set(placeOf.keys()), isMeant);
  return troublesOf(
    left,
    ({ vm }) => placeOf.get(vm),
    (names) => withReason(`has virtual machines that could not be started again (${names})`, reasons),
  );
}

/** The recorded virtual machines that do not run now; empty where none are switched off by the upgrade. */
export async function stoppedVms(context: HostsRemediationContext): Promise<readonly Vim25Vm[]> {
  const { management, patience, input } = context;
  const placeOf = placesOfVms(context);
  if (placeOf.size === 0) return [];
  const vms = await patience.persist(() => management.listVms(input.cluster.cluster));
  return vms.filter(({ vm, power }) => power !== "poweredOn" && placeOf.has(vm));
}

function placesOfVms({ input: { hosts, runningVms = {} } }: HostsRemediationContext): ReadonlyMap<string, number> {
  return new Map(hosts.flatMap(({ host }, place) => (runningVms[host] ?? []).map((vm) => [vm, place] as const)));
}

function change(
  { management, patience, progress, input }: HostsRemediationContext,
  action: VmPowerAction,
  changed: ReadonlySet<string>,
  isMeant: (vm: Vim25Vm) => boolean,
) {
  const { cluster } = input.cluster;
  const note = (activity: string) => progress.note(activity);
  return changeVmPower({ client: management, patience, cluster, action, changed, isMeant, note });
}

function troublesOf(
  left: readonly Vim25Vm[],
  placeOf: (vm: Vim25Vm) => number | undefined,
  textOf: (names: string) => string,
): Troubles {
  const byPlace = new Map<number, Vim25Vm[]>();
  for (const vm of left) {
    const place = placeOf(vm);
    if (place !== undefined) byPlace.set(place, [...(byPlace.get(place) ?? []), vm]);
  }
  return new Map(
    [...byPlace].map(([place, vms]) => [
      place,
      textOf(
        fewOf(
          vms.map(({ name }) => name),
          namesShown,
        ),
      ),
    ]),
  );
}

function withReason(what: string, [reason]: readonly string[]): string {
  return reason === undefined ? `${what}.` : `${what}: ${reason}`;
}
