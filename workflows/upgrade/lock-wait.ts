import type { ErrorBody } from "../../src/domain/errors";
import type { ResourcePlan } from "../../src/domain/plan/upgrade-plan";
import { toTimestamp } from "../../src/domain/timestamp";
import { currentTime } from "../clock";
import { lookAtClosure } from "../closure-look";
import { type Known, waitAtRest } from "./continue-as-new";
import type { LockedResource } from "./locked-resource";
import { acquireLocks, findHeld } from "./locks";
import type { UpgradeState } from "./upgrade-state";

/** The first wait before the locks of a scheduled upgrade are tried again, and the longest (milliseconds). */
const betweenTries = { first: 2_000, longest: 60_000 };

/** Thrown where nothing has begun and the upgrade has another time, before which it holds no locks. */
export class Rescheduled extends Error {
  constructor() {
    super("The upgrade has a later time");
  }
}

/** Waits, with nothing in work and no lock held, until it is time for the locks of what is scheduled. */
export async function awaitLockTime(state: UpgradeState, known: Known): Promise<void> {
  for (;;) {
    const until = state.times.lockTime(state.unfinished());
    if (until <= currentTime()) return;
    if (state.phase !== "SCHEDULED") state.enter("SCHEDULED");
    state.noteMissingApprovals();
    await rest(state, known, { until, summary: `lock resources at ${toTimestamp(until)}` });
  }
}

/** The locks of an upgrade, and until when it could not have them (epoch milliseconds): that is no delay of its own. */
export interface Locks {
  readonly locked: readonly LockedResource[];
  readonly heldUntil: number;
}

/**
 * Takes the locks of what is left. Where another upgrade has one of them, a scheduled upgrade tries again up to the end of the
 * maintenance window of that resource; without a window as long as it may be late. Gives the error then, and at once for an
 * upgrade without a time. Throws Rescheduled.
 */
export async function lockInTime(state: UpgradeState, known: Known): Promise<Locks | ErrorBody> {
  let end = Infinity;
  let heldUntil = 0;
  try {
    for (let wait = betweenTries.first; ; wait = Math.min(wait * 1.5, betweenTries.longest)) {
      const resources = state.unfinished();
      // A look is cheaper than Workflows that are started and end again.
      const held = heldUntil > 0 ? await findHeld(state) : undefined;
      const locked = held ?? (await acquireLocks(state, resources));
      if (Array.isArray(locked)) return { locked, heldUntil };
      heldUntil = currentTime();
      end = Math.min(end, await lastTry(state, resources, locked));
      if (end <= currentTime()) return locked;
      for (const { resourceId } of resources) state.known.childReleased(resourceId);
      state.waitForLock(locked.message);
      const until = Math.min(end, currentTime() + wait);
      await rest(state, known, { until, summary: "before the locks are requested again" });
      if (state.times.lockTime(state.unfinished()) > currentTime()) throw new Rescheduled();
    }
  } finally {
    state.waitForLock(undefined);
  }
}

/** Until when the locks are tried for, as far as that is known now (epoch milliseconds). */
async function lastTry(
  state: UpgradeState,
  resources: readonly ResourcePlan[],
  { context }: ErrorBody,
): Promise<number> {
  if (state.awaitsCommit) return Infinity;
  const due = state.times.dueTime(resources);
  if (due === undefined) return 0;
  if (due > currentTime()) return Infinity;
  const resource = resources.find(({ resourceId }) => resourceId === context?.["resourceId"]);
  const { error, closesAt } = await lookAtClosure({ places: resource?.places ?? [] });
  if (error) return Infinity;
  return closesAt ?? due + state.plan.lateStartMinutes * 60_000;
}

/** Waits for a time, or for another schedule. */
async function rest(
  state: UpgradeState,
  known: Known,
  time: { readonly until: number; readonly summary: string },
): Promise<void> {
  const { changes } = state.times;
  await waitAtRest(state, () => state.times.changes !== changes || state.approvals.isRejected, known, time);
  state.approvals.throwIfRejected();
}
