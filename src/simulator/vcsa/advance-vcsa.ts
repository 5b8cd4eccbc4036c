import { isActive } from "../state/fault";
import type { World } from "../state/world";
import { applianceOf } from "./appliance";
import { advanceMigration } from "./migration";
import { advanceUpdate } from "./update";

/** Lets everything happen to the management server that is due by now. Its restart ends every session. */
export function advanceVcsa(world: World): void {
  const now = world.now();
  const appliance = applianceOf(world);
  for (const run of [appliance.update, appliance.migration])
    if (run?.downFrom !== undefined && now >= run.downFrom && !run.restarted) {
      run.restarted = true;
      world.sessions.expireAll();
    }
  while (advanceUpdate(world, appliance, now) || advanceMigration(world, appliance, now));
}

export type Availability = "UP" | "UNAVAILABLE" | "OFF";

/** Whether the API answers now: not while services stop and start (503), and not at all while the machine is off. */
export function availability(world: World): Availability {
  const { migration } = applianceOf(world);
  const share = shareOf(world.now(), migration);
  return share === undefined ? besideMigration(world) : whileRestarting(share);
}

/** The same of the upgrade service, which only the change of the machines' places interrupts in a switchover. */
export function upgradeServiceAvailability(world: World): Availability {
  const { migration } = applianceOf(world);
  const share = shareOf(world.now(), migration);
  if (share === undefined) return besideMigration(world);
  if (migration?.downAltogether) return whileRestarting(share);
  return share >= 0.4 && share < 0.6 ? "OFF" : "UP";
}

/** An update in place, and a restart for whatever reason, take everything away. */
function besideMigration(world: World): Availability {
  const now = world.now();
  const restarts = world.state.global.faults
    .filter((fault) => fault.kind === "MANAGER_RESTARTS" && isActive(fault, now))
    .map(({ createdAt, until }) => ({ downFrom: createdAt, downUntil: until }));
  for (const absence of [applianceOf(world).update, ...restarts]) {
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
export function lifecycleAbsence(world: World): number | undefined {
  const now = world.now();
  const { lifecycleAway } = applianceOf(world);
  return lifecycleAway && now >= lifecycleAway.from && now < lifecycleAway.until ? lifecycleAway.status : undefined;
}

/** A failed installation is repaired, as if the appliance had been restored from its backup; a late service starts. */
export function repairAppliance(world: World, faults: readonly string[]): void {
  const appliance = applianceOf(world);
  const { update, lifecycleAway } = appliance;
  if (lifecycleAway && faults.includes(lifecycleAway.fault)) {
    delete appliance.lifecycleAway;
    world.changed();
  }
  if (update?.status === "FAILED" && update.failure && faults.includes(update.failure.fault)) {
    delete appliance.update;
    world.changed();
  }
}
