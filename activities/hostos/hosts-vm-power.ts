import { changeVmPower, fewOf, powerActionOf } from "../baseline/change-vm-power";
import type { VmPowerAction } from "../drivers/vim25/vim25-client";
import type { Vim25Vm } from "../drivers/vim25/vim25-models";
import { type HostFailure, hostFailure } from "./host-failure";
import type { ImageContext } from "./image-context";

/** Names of virtual machines that an error of a host tells; it has to fit among those of many. */
const namesShown = 3;

/** Hosts by their places, and what is wrong with each. */
type Troubles = ReadonlyMap<number, HostFailure>;

/**
 * Switches off what runs on hosts, as the upgrade asks and only what was recorded before. Gives the hosts on which
 * something runs on.
 */
export async function switchOffVms(context: ImageContext, places: readonly number[]): Promise<Troubles> {
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
    (names) =>
      hostFailure(
        "HOST_MAINTENANCE_MODE_FAILED",
        `has virtual machines that could not be switched off (${names})`,
        reasons,
      ),
  );
}

/**
 * Starts those of the recorded virtual machines that do not run now, wherever they are. Gives the hosts on which those
 * ran that do not start.
 */
export async function startVms(context: ImageContext): Promise<Troubles> {
  const { input } = context;
  const placeOf = placesOfVms(context);
  if (placeOf.size === 0 || !powerActionOf(input.ownOptions ?? {})) return new Map();
  const isMeant = ({ vm, power }: Vim25Vm) => power !== "poweredOn" && placeOf.has(vm);
  const { left, reasons } = await change(context, "PowerOnVM", new Set(placeOf.keys()), isMeant);
  return troublesOf(
    left,
    ({ vm }) => placeOf.get(vm),
    (names) =>
      hostFailure(
        "HOST_NOT_BACK_IN_SERVICE",
        `has virtual machines that could not be started again (${names})`,
        reasons,
      ),
  );
}

/** The recorded virtual machines that do not run now; empty where none are switched off by the upgrade. */
export async function stoppedVms(context: ImageContext): Promise<readonly Vim25Vm[]> {
  const { management, retryPolicy, input } = context;
  const placeOf = placesOfVms(context);
  if (placeOf.size === 0) return [];
  const vms = await retryPolicy.retry(() => management.listVms(input.cluster.cluster));
  return vms.filter(({ vm, power }) => power !== "poweredOn" && placeOf.has(vm));
}

function placesOfVms({ input: { hosts, runningVms = {} } }: ImageContext): ReadonlyMap<string, number> {
  return new Map(hosts.flatMap(({ host }, place) => (runningVms[host] ?? []).map((vm) => [vm, place] as const)));
}

function change(
  { management, retryPolicy, progress, input }: ImageContext,
  action: VmPowerAction,
  changed: ReadonlySet<string>,
  isMeant: (vm: Vim25Vm) => boolean,
) {
  const { cluster } = input.cluster;
  const note = (activity: string) => progress.note(activity);
  return changeVmPower({ client: management, retryPolicy, cluster, action, changed, isMeant, note });
}

function troublesOf(
  left: readonly Vim25Vm[],
  placeOf: (vm: Vim25Vm) => number | undefined,
  failureOf: (names: string) => HostFailure,
): Troubles {
  const byPlace = new Map<number, Vim25Vm[]>();
  for (const vm of left) {
    const place = placeOf(vm);
    if (place !== undefined) byPlace.set(place, [...(byPlace.get(place) ?? []), vm]);
  }
  return new Map(
    [...byPlace].map(([place, vms]) => [
      place,
      failureOf(
        fewOf(
          vms.map(({ name }) => name),
          namesShown,
        ),
      ),
    ]),
  );
}
