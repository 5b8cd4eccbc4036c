import { type Fault, type FaultKind, isActive } from "../state/fault";
import type { LedgerStep } from "../state/ledger-entry";
import type { World } from "../state/world";
import { applianceConfig, type ApplianceUpdate, type VcsaState } from "./vcsa-state";

/** The management server's own state, made from the configuration when it is first asked for. */
export function applianceOf(world: World): VcsaState {
  const config = applianceConfig(world.config.managementServer);
  const configuration = JSON.stringify(config);
  const known = world.state.global.vcsa;
  if (known?.configuration === configuration) return known;
  const fresh: VcsaState = { configuration, version: config.version, checks: [] };
  world.state.global.vcsa = fresh;
  return fresh;
}

/** What the management server is offered and does not run yet. */
export function offeredUpdates(world: World): ApplianceUpdate[] {
  const { version } = applianceOf(world);
  return applianceConfig(world.config.managementServer).updates.filter((update) => isNewer(update.version, version));
}

function isNewer(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) > 0;
}

export function isAddressUsed(world: World, address: string): boolean {
  return applianceConfig(world.config.managementServer).usedAddresses.includes(address);
}

/** Writes a step of the management server to the ledger; `at` may be before now. */
export function note(world: World, step: LedgerStep, at: number, detail?: string): void {
  world.record({ at, step, ...(detail !== undefined && { detail }) });
}

/** The first fault of one of these kinds that acts in a state, and counts it as used. Those without a state act in `byDefault`. */
export function takeFault(
  world: World,
  kinds: readonly FaultKind[],
  { state, byDefault, at = world.now() }: { state?: string; byDefault?: string; at?: number } = {},
): Fault | undefined {
  const fault = world.state.global.faults.find(
    (candidate) =>
      kinds.includes(candidate.kind) &&
      isActive(candidate, at) &&
      (state === undefined || (candidate.state ?? byDefault) === state),
  );
  if (fault) world.useFault(fault);
  return fault;
}

interface PhaseTiming {
  startedAt: number;
  duration: number;
  endsAt?: number;
  stopsAt?: number;
  blocked?: boolean;
}

/** How long a phase takes: `share` of a host's remediation, unless a fault holds it up on the way. */
export function planPhase(world: World, state: string, startedAt: number, share: number): PhaseTiming {
  const duration = share * world.hostMilliseconds();
  const fault = takeFault(world, ["MGMT_STUCK", "MGMT_BLOCKED"], { state, byDefault: "PREPARING", at: startedAt });
  if (!fault) return { startedAt, duration, endsAt: startedAt + duration };
  const stopsAt = startedAt + 0.2 * duration;
  return {
    startedAt,
    duration,
    stopsAt,
    ...(fault.seconds !== undefined && { endsAt: stopsAt + fault.seconds * 1000 + 0.8 * duration }),
    ...(fault.kind === "MGMT_BLOCKED" && { blocked: true }),
  };
}

/**
 * When the API is away within a phase: from `from` to `until` of its time, or for as long as a fault says, which takes the
 * upgrade service away as well.
 */
export function planAbsence(
  world: World,
  { startedAt, duration, endsAt, stopsAt }: PhaseTiming,
  [from, until]: readonly [number, number],
): { downFrom?: number; downUntil?: number; downAltogether?: true; endsAt?: number } {
  // What hangs hangs before it takes the API away, so that it can be seen.
  if (stopsAt !== undefined || endsAt === undefined) return {};
  const longer = takeFault(world, ["MGMT_API_DOWN"], { at: startedAt });
  const downFrom = startedAt + from * duration;
  const downUntil = longer?.seconds === undefined ? startedAt + until * duration : downFrom + longer.seconds * 1000;
  planLateLifecycle(world, downUntil);
  const altogether = longer && { downAltogether: true as const };
  return { downFrom, downUntil, ...altogether, endsAt: downUntil + (1 - until) * duration };
}

/** Lets the lifecycle service come up later than the rest does at `upAt` (epoch milliseconds), where a fault says so. */
export function planLateLifecycle(world: World, upAt: number): void {
  const fault = takeFault(world, ["LIFECYCLE_STARTS_LATE"]);
  if (!fault) return;
  const { id, seconds = 30, status = 404 } = fault;
  applianceOf(world).lifecycleAway = { from: upAt, until: upAt + seconds * 1000, status, fault: id };
}

/** Progress of a phase in percent: a straight line that stands still where the phase hangs. */
export function percentOf({ startedAt, duration, stopsAt, endsAt }: PhaseTiming, now: number): number {
  const end = stopsAt === undefined ? (endsAt ?? startedAt + duration) : startedAt + duration;
  const reached = Math.min(now, stopsAt ?? end);
  return end <= startedAt
    ? 99
    : Math.max(0, Math.min(99, Math.floor((100 * (reached - startedAt)) / (end - startedAt))));
}
