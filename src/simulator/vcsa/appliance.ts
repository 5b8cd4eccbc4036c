import type { SimulatorContext } from "../state/context";
import { type Fault, type FaultKind, isActive } from "../state/fault";
import type { LedgerStep } from "../state/ledger-entry";
import { applianceConfig, type ApplianceUpdate, type VcsaState } from "./vcsa-state";

/** The management server's own state, made from the configuration when it is first asked for. */
export function applianceOf(context: SimulatorContext): VcsaState {
  const config = applianceConfig(context.config.managementServer);
  const configuration = JSON.stringify(config);
  const known = context.state.global.vcsa;
  if (known?.configuration === configuration) return known;
  const fresh: VcsaState = { configuration, version: config.version, checks: [] };
  context.state.global.vcsa = fresh;
  return fresh;
}

/** What the management server is offered and does not run yet. */
export function offeredUpdates(context: SimulatorContext): ApplianceUpdate[] {
  const { version } = applianceOf(context);
  return applianceConfig(context.config.managementServer).updates.filter((update) => isNewer(update.version, version));
}

function isNewer(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) > 0;
}

export function isAddressUsed(context: SimulatorContext, address: string): boolean {
  return applianceConfig(context.config.managementServer).usedAddresses.includes(address);
}

/** Writes a step of the management server to the ledger; `at` may be before now. */
export function note(context: SimulatorContext, step: LedgerStep, at: number, detail?: string): void {
  context.record({ at, step, ...(detail !== undefined && { detail }) });
}

/** The first fault of one of these kinds that acts in a state, and counts it as used. Those without a state act in `byDefault`. */
export function takeFault(
  context: SimulatorContext,
  kinds: readonly FaultKind[],
  { state, byDefault, at = context.now() }: { state?: string; byDefault?: string; at?: number } = {},
): Fault | undefined {
  const fault = context.state.global.faults.find(
    (candidate) =>
      kinds.includes(candidate.kind) &&
      isActive(candidate, at) &&
      (state === undefined || (candidate.state ?? byDefault) === state),
  );
  if (fault) context.useFault(fault);
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
export function planPhase(context: SimulatorContext, state: string, startedAt: number, share: number): PhaseTiming {
  const duration = share * context.hostMilliseconds();
  const fault = takeFault(context, ["MGMT_STUCK", "MGMT_BLOCKED"], { state, byDefault: "PREPARING", at: startedAt });
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
  context: SimulatorContext,
  { startedAt, duration, endsAt, stopsAt }: PhaseTiming,
  [from, until]: readonly [number, number],
): { downFrom?: number; downUntil?: number; downAltogether?: true; endsAt?: number } {
  // What hangs hangs before it takes the API away, so that it can be seen.
  if (stopsAt !== undefined || endsAt === undefined) return {};
  const longer = takeFault(context, ["MGMT_API_DOWN"], { at: startedAt });
  const downFrom = startedAt + from * duration;
  const downUntil = longer?.seconds === undefined ? startedAt + until * duration : downFrom + longer.seconds * 1000;
  planLateLifecycle(context, downUntil);
  const altogether = longer && { downAltogether: true as const };
  return { downFrom, downUntil, ...altogether, endsAt: downUntil + (1 - until) * duration };
}

/** Lets the lifecycle service come up later than the rest does at `upAt` (epoch milliseconds), where a fault says so. */
export function planLateLifecycle(context: SimulatorContext, upAt: number): void {
  const fault = takeFault(context, ["LIFECYCLE_STARTS_LATE"]);
  if (!fault) return;
  const { id, seconds = 30, status = 404 } = fault;
  applianceOf(context).lifecycleAway = { from: upAt, until: upAt + seconds * 1000, status, fault: id };
}

/** Progress of a phase in percent: a straight line that stands still where the phase hangs. */
export function percentOf({ startedAt, duration, stopsAt, endsAt }: PhaseTiming, now: number): number {
  const end = stopsAt === undefined ? (endsAt ?? startedAt + duration) : startedAt + duration;
  const reached = Math.min(now, stopsAt ?? end);
  return end <= startedAt
    ? 99
    : Math.max(0, Math.min(99, Math.floor((100 * (reached - startedAt)) / (end - startedAt))));
}
