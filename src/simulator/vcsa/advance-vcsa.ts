import type { SimulatorContext } from "../state/context";
import { isActive } from "../state/fault";
import { applianceOf } from "./appliance";
import { advanceMigration } from "./migration";
import { advanceUpdate } from "./update";

/** Lets everything happen to the management server that is due by now. Its restart ends every session. */
export function advanceVcsa(context: SimulatorContext): void {
  const now = context.now();
  const appliance = applianceOf(context);
  for (const run of [appliance.update, appliance.migration])
    if (run?.downFrom !== undefined && now >= run.downFrom && !run.restarted) {
      run.restarted = true;
      context.sessions.expireAll();
    }
  while (advanceUpdate(context, appliance, now) || advanceMigration(context, appliance, now));
}

export type Availability = "UP" | "UNAVAILABLE" | "OFF";

/** Whether the API answers now: not while services stop and start (503), and not at all while the machine is off. */
export function availability(context: SimulatorContext): Availability {
  const { migration } = applianceOf(context);
  const share = shareOf(context.now(), migration);
  return share === undefined ? besideMigration(context) : whileRestarting(share);
}

/** The same of the upgrade service, which only the change of the machines' places interrupts in a switchover. */
export function upgradeServiceAvailability(context: SimulatorContext): Availability {
  const { migration } = applianceOf(context);
  const share = shareOf(context.now(), migration);
  if (share === undefined) return besideMigration(context);
  if (migration?.downAltogether) return whileRestarting(share);
  return share >= 0.4 && share < 0.6 ? "OFF" : "UP";
}

/** An update in place, and a restart for whatever reason, take everything away. */
function besideMigration(context: SimulatorContext): Availability {
  const now = context.now();
  const restarts = context.state.global.faults
    .filter((fault) => fault.kind === "MANAGER_RESTARTS" && isActive(fault, now))
    .map(({ createdAt, until }) => ({ downFrom: createdAt, downUntil: until }));
  for (const absence of [applianceOf(context).update, ...restarts]) {
    const share = shareOf(now, absence);
    if (share !== undefined) return whileRestarting(share);
  }
  return "UP";
}

/** How much of an absence has passed, 0 to 1; undefined outside of it. */
function shareOf(
  now: number,
  { downFrom, downUntil }: { downFrom?: number | undefined; downUntil?: number | undefined } = {},
): number | undefined {
  if (downFrom === undefined || downUntil === undefined || now < downFrom || now >= downUntil) return undefined;
  return (now - downFrom) / (downUntil - downFrom);
}

function whileRestarting(share: number): Availability {
  return share < 0.1 || share >= 0.8 ? "UNAVAILABLE" : "OFF";
}

/** The status that the lifecycle service is answered with while it has not started yet; undefined once it has. */
export function lifecycleAbsence(context: SimulatorContext): number | undefined {
  const now = context.now();
  const { lifecycleAway } = applianceOf(context);
  return lifecycleAway && now >= lifecycleAway.from && now < lifecycleAway.until ? lifecycleAway.status : undefined;
}

/** A failed installation is repaired, as if the appliance had been restored from its backup; a late service starts. */
export function repairAppliance(context: SimulatorContext, faults: readonly string[]): void {
  const appliance = applianceOf(context);
  const { update, lifecycleAway } = appliance;
  if (lifecycleAway && faults.includes(lifecycleAway.fault)) {
    delete appliance.lifecycleAway;
    context.changed();
  }
  if (update?.status === "FAILED" && update.failure && faults.includes(update.failure.fault)) {
    delete appliance.update;
    context.changed();
  }
}
