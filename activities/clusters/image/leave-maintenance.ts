import { failureAt } from "../../../src/domain/task/host-remediation";
import { DriverError } from "../../drivers/driver-error";
import type { VmPowerAction } from "../../drivers/vim25/vim25-client";
import type { Vim25Vm } from "../../drivers/vim25/vim25-models";
import { changeVmPower, fewOf, powerActionOf } from "../baseline/vm-power";
import { heldByOthers, HostFailure, hostFailure } from "../remediation-errors";
import { isApply, stateAmong } from "./assess-hosts";
import { hostsIn, type ImageContext } from "./image-context";

/**
 * Takes every host of the input out of maintenance mode, whatever became of it, starts what was switched off on it, and
 * says so of those that are not back. A host that was upgraded counts as that only when it is back at work.
 */
export async function leaveMaintenance(context: ImageContext): Promise<void> {
  const { progress, input } = context;
  const inside = await exitAll(context);
  const stopped = await startVms(context);
  progress.stillOut([...inside.keys()], "inMaintenanceMode");
  progress.stillOut([...stopped.keys()], "vmsOff");
  input.hosts.forEach((_, place) => {
    const [stays, stops] = [inside.get(place), stopped.get(place)];
    const isUpgraded = progress.inPhase("EXIT_MAINTENANCE_MODE").includes(place);
    if (stays === undefined && stops === undefined) {
      if (isUpgraded) progress.enter([place], "UPGRADED", `Upgraded to ${input.targetVersion}.`);
      return;
    }
    const vms = stops === undefined ? [] : [`It ${stops.what}`];
    if (progress.inPhase("FAILED", "FAILED_ONCE").includes(place)) {
      const mode = stays === undefined ? [] : ["It stays in maintenance mode."];
      return progress.noteLeftBehind(place, [...mode, ...vms].join(" "));
    }
    const isDone = isUpgraded || progress.inPhase("ALREADY_AT_TARGET").includes(place);
    const state = isDone ? "is at the target, but" : "was not upgraded, and";
    const what =
      stays === undefined
        ? `${state} ${stops?.what ?? ""}`
        : [`${state} stays in maintenance mode: ${stays}`, ...vms].join(" ");
    const code = stays === undefined ? "HOST_NOT_BACK_IN_SERVICE" : "HOST_LEFT_IN_MAINTENANCE_MODE";
    progress.fail(place, new HostFailure(code, what), { stage: "VERIFY" });
  });
}

/** The hosts, by their places, that could not be taken out of maintenance mode, and why. */
async function exitAll(context: ImageContext) {
  const { client, maintenance, retryPolicy, progress, input } = context;
  const { cluster } = input.cluster;
  const left = new Map<number, string>();
  if (!input.emptying) await settled(context);
  const inside = await maintenance.inMaintenance(cluster, retryPolicy);
  const places = input.hosts.flatMap(({ host }, place) => (inside.has(host) && isOurs(context, place) ? [place] : []));
  if (places.length === 0) return left;
  progress.note(`Waiting for ${hostsIn(context, places)} to exit maintenance mode.`);
  const listed = await retryPolicy.retry(() => client.listHosts(cluster));
  await Promise.all(
    places.map(async (place) => {
      const id = input.hosts[place]?.host ?? "";
      const state = stateAmong(listed, id);
      if (state !== "CONNECTED") {
        left.set(place, `it is ${state}.`);
        return;
      }
      try {
        await maintenance.exit(id, retryPolicy);
      } catch (error) {
        if (!(error instanceof DriverError)) throw error;
        left.set(place, error.causes[0] ?? error.message);
      }
    }),
  );
  return left;
}

/** Whether a host in maintenance mode may be taken out: not if nothing was asked of it, because then somebody else put it there. */
function isOurs({ progress }: ImageContext, place: number): boolean {
  const failure = failureAt(progress.current, place);
  const isUntouched = progress.inPhase("WAITING", "CHECK_COMPLIANCE", "REFUSED", "HELD").includes(place);
  return failure?.code !== heldByOthers.code && (failure !== undefined || !isUntouched);
}

/** Waits for the product, which takes a host that it has emptied out of maintenance mode itself, as long as that may take. */
async function settled({ maintenance, retryPolicy, progress, input, limits }: ImageContext): Promise<void> {
  const [place] = progress.inPhase("EXIT_MAINTENANCE_MODE");
  if (place === undefined) return;
  const began = retryPolicy.clock.now();
  for (let round = 0; retryPolicy.clock.now() - began < limits.settle; round++) {
    if (!(await maintenance.isInMaintenance(input.hosts[place]?.host ?? "", retryPolicy))) return;
    progress.note("Waiting until the host is out of maintenance mode.");
    await retryPolicy.pause(round);
  }
}

/**
 * The error of an attempt that is given up for another reason than its hosts, with what it leaves behind: where a
 * remediation may still run the hosts have to stay in maintenance mode and what ran on them off, otherwise they are
 * taken out and started again.
 */
export async function givenUp(context: ImageContext, error: DriverError): Promise<DriverError> {
  const { client, maintenance, retryPolicy, progress, input } = context;
  let inside: string[];
  let stopped: string[];
  try {
    const tasks = await retryPolicy.retry(() => client.listUnfinishedTasks(input.cluster.cluster));
    if (![...tasks.values()].some(isApply)) {
      await exitAll(context);
      await startVms(context);
    }
    const left = await maintenance.inMaintenance(input.cluster.cluster, retryPolicy);
    const places = input.hosts.flatMap(({ host }, place) => (left.has(host) && isOurs(context, place) ? [place] : []));
    inside = places.flatMap((place) => input.hosts[place]?.fqdn ?? []);
    const vms = await stoppedVms(context);
    stopped = vms.map(({ name }) => name);
    progress.stillOut(places, "inMaintenanceMode");
    const placeOf = placesOfVms(context);
    progress.stillOut([...new Set(vms.flatMap(({ vm }) => placeOf.get(vm) ?? []))], "vmsOff");
  } catch (cause) {
    if (!(cause instanceof DriverError)) throw cause;
    const inWork = progress
      .inPhase("ENTER_MAINTENANCE_MODE", "REMEDIATE", "RECONNECT", "VERIFY", "EXIT_MAINTENANCE_MODE")
      .flatMap((place) => input.hosts[place] ?? []);
    inside = inWork.map(({ fqdn }) => fqdn);
    stopped = inWork.flatMap(({ host }) => input.runningVms?.[host] ?? []);
  }
  const leftBehind = [
    {
      what: "Still in maintenance mode",
      names: inside,
      remedy: "First take the hosts that are still in maintenance mode out of it.",
    },
    { what: "Still powered off", names: stopped, remedy: "Start the virtual machines that are powered off." },
  ].filter(({ names }) => names.length > 0);
  if (leftBehind.length === 0) return error;
  return error.with({
    message: [error.message, ...leftBehind.map(({ what, names }) => `${what}: ${fewOf(names, 3)}.`)].join(" "),
    remediation: [error.remediation, ...leftBehind.map(({ remedy }) => remedy)].join(" "),
  });
}

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
  context.progress.takeOut(places, "vmsOff");
  const { left, reasons } = await change(context, action, recorded, isMeant);
  return troublesOf(
    left,
    ({ host }) => placeOf.get(host),
    (names) =>
      hostFailure(
        "HOST_MAINTENANCE_MODE_FAILED",
        `has virtual machines that could not be powered off (${names})`,
        reasons,
      ),
  );
}

/**
 * Starts those of the recorded virtual machines that do not run now, wherever they are. Gives the hosts on which those
 * ran that do not start.
 */
async function startVms(context: ImageContext): Promise<Troubles> {
  const { input } = context;
  const placeOf = placesOfVms(context);
  if (placeOf.size === 0 || !powerActionOf(input.ownOptions ?? {})) return new Map();
  const isMeant = ({ vm, power }: Vim25Vm) => power !== "poweredOn" && placeOf.has(vm);
  const { left, reasons } = await change(context, "PowerOnVM", new Set(placeOf.keys()), isMeant);
  return troublesOf(
    left,
    ({ vm }) => placeOf.get(vm),
    (names) =>
      hostFailure("HOST_NOT_BACK_IN_SERVICE", `has virtual machines that could not be restarted (${names})`, reasons),
  );
}

/** The recorded virtual machines that do not run now; empty where none are switched off by the upgrade. */
async function stoppedVms(context: ImageContext): Promise<readonly Vim25Vm[]> {
  const { management, retryPolicy, input } = context;
  const placeOf = placesOfVms(context);
  if (placeOf.size === 0) return [];
  const vms = await retryPolicy.retry(() => management.listVms(input.cluster.cluster));
  return vms.filter(({ vm, power }) => power !== "poweredOn" && placeOf.has(vm));
}

/** Without those on hosts that were left out: who holds these may have switched them off. */
function placesOfVms({ progress, input: { hosts, runningVms = {} } }: ImageContext): ReadonlyMap<string, number> {
  const held = new Set(progress.inPhase("HELD"));
  return new Map(
    hosts.flatMap(({ host }, place) =>
      held.has(place) ? [] : (runningVms[host] ?? []).map((vm) => [vm, place] as const),
    ),
  );
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
