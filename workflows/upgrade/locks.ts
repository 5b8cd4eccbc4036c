import { CancellationScope, proxyActivities, sleep, upsertMemo, workflowInfo } from "@temporalio/workflow";
import type { HeldLock, UpgradeActivities } from "../../activities/contract";
import type { ErrorBody } from "../../src/domain/errors";
import { lowerFirst } from "../../src/domain/names";
import type { ResourcePlan } from "../../src/domain/plan/upgrade-plan";
import {
  conflictingLocks,
  type ConflictingHolder,
  givesWay,
  type HoldingUpgrade,
  holderTitle,
  inLockOrder,
  lockOf,
  type LockState,
  lockTitle,
} from "../../src/domain/resource-lock";
import { readOptions } from "../activity-options";
import { retryWhileLost } from "../lost-activities";
import type { UpgradeMemo } from "../messages";
import { lockResource, type LockedResource, releaseAll } from "./locked-resource";
import type { UpgradeState } from "./upgrade-state";

const { readLockHolder, readLockHolders } =
  proxyActivities<Pick<UpgradeActivities, "readLockHolder" | "readLockHolders">>(readOptions());

/** How often a lock is tried again whose holder has ended in the meantime. */
const maximumTries = 5;

/** The first wait for an upgrade that has conflicting locks and is not through with them, and the longest (milliseconds). */
const betweenLooks = { first: 2_000, longest: 30_000 };

/** For how long such an upgrade is waited for (milliseconds): one whose Workflow is blocked never gets through. */
const longestWait = 15 * 60_000;

/**
 * Takes the locks of resources one after another in the order of their ids, so that of upgrades which race for overlapping
 * resources one always gets through. Then sees that nobody holds a lock that conflicts with them, and waits for upgrades that
 * are about to give theirs back, or do not know yet whether they keep them ({@link givesWay}). Gives the error that names the
 * holder where one is held; those already taken are released then.
 */
export async function acquireLocks(
  state: UpgradeState,
  resources: readonly ResourcePlan[],
): Promise<LockedResource[] | ErrorBody> {
  const locked: LockedResource[] = [];
  let complete = false;
  publishLocks("ACQUIRING");
  try {
    for (const resource of inLockOrder(resources)) {
      if (state.known.isSkipped(resource)) continue;
      const lock = await acquireLock(state, resource);
      if (!("message" in lock)) locked.push(lock);
      else if (!state.known.isSkipped(resource)) return lock;
    }
    for (let wait = betweenLooks.first, waited = 0; ; wait = Math.min(wait * 1.5, betweenLooks.longest)) {
      const conflicts = await findConflicts(state, resources);
      const [first] = conflicts;
      complete = first === undefined;
      if (!first) {
        publishLocks("HELD");
        return locked;
      }
      const winner = conflicts.find(({ holder }) => givesWay(state.plan.id, holder));
      if (winner ?? waited >= longestWait) return (winner ?? first).error;
      publishLocks("CHECKING");
      await sleep(wait, { summary: `until ${holderTitle(first.holder)} has its locks or releases them` });
      waited += wait;
    }
  } finally {
    if (!complete) {
      publishLocks("RELEASING");
      await CancellationScope.nonCancellable(() => releaseAll(locked));
    }
  }
}

/** The error that names another upgrade which holds a lock that this one takes or must not find held; undefined where none does. */
export async function findHeld(state: UpgradeState): Promise<ErrorBody | undefined> {
  const resources = state.unfinished();
  const locks = new Set(resources.flatMap((resource) => [lockOf(resource), ...conflictingLocks(resource)]));
  const names = resources.map(({ name }) => name);
  const held = (await readHolders(state, [...locks], names)).find(({ upgradeId }) => upgradeId !== state.plan.id);
  if (!held) return undefined;
  const { workflowId: lock } = held;
  const own = resources.find((resource) => lockOf(resource) === lock);
  if (own) return lockedBy(`${titleOf(own)} is`, own.resourceId, held);
  const other = resources.find((resource) => conflictingLocks(resource).includes(lock));
  return other && conflictError(other, lock, held);
}

/** Tells other upgrades, which read it in the memo. An upgrade of which nothing is said is about to take its locks. */
function publishLocks(locks: LockState): void {
  const { locks: published = "ACQUIRING" } = (workflowInfo().memo ?? {}) as Partial<UpgradeMemo>;
  if (locks !== published) upsertMemo({ locks } satisfies Partial<UpgradeMemo>);
}

async function acquireLock(state: UpgradeState, resource: ResourcePlan): Promise<LockedResource | ErrorBody> {
  let holder: HoldingUpgrade | undefined;
  for (let tries = 0; tries < maximumTries && holder === undefined; tries++) {
    const lock = await lockResource(state, resource);
    if (lock) return lock;
    const { upgradeId, ...names } = await readHolder(state, resource);
    if (upgradeId !== undefined) holder = { ...names, upgradeId };
  }
  return lockedBy(`${titleOf(resource)} is`, resource.resourceId, holder);
}

function readHolder(state: UpgradeState, resource: ResourcePlan) {
  const { waits } = state.plan;
  const summary = `${resource.name}: read lock holder`;
  return retryWhileLost(waits, () =>
    readLockHolder.executeWithOptions({ ...readOptions(waits), summary }, [{ workflowId: lockOf(resource) }]),
  );
}

interface Conflict {
  readonly error: ErrorBody;
  readonly holder: ConflictingHolder;
}

/** Looks at what resources must not meet, all of it at once. Gives one conflict for each upgrade, by their ids. */
async function findConflicts(state: UpgradeState, resources: readonly ResourcePlan[]): Promise<readonly Conflict[]> {
  const own = new Set(state.resources.map(lockOf));
  const meetings = resources
    .filter((resource) => !state.known.isSkipped(resource))
    .map((resource) => ({ resource, locks: conflictingLocks(resource).filter((lock) => !own.has(lock)) }))
    .filter(({ locks }) => locks.length > 0);
  if (meetings.length === 0) return [];
  const names = meetings.map(({ resource }) => resource.name);
  const conflicts = new Map<string, Conflict>();
  for (const holder of await readHolders(state, [...new Set(meetings.flatMap(({ locks }) => locks))], names)) {
    const { upgradeId, workflowId: lock } = holder;
    const resource = meetings.find(({ locks }) => locks.includes(lock))?.resource;
    if (!resource || conflicts.has(upgradeId)) continue;
    conflicts.set(upgradeId, { holder, error: conflictError(resource, lock, holder) });
  }
  return [...conflicts.values()].sort((one, other) => (one.holder.upgradeId < other.holder.upgradeId ? -1 : 1));
}

function readHolders(
  state: UpgradeState,
  workflowIds: readonly string[],
  [first = "", ...others]: readonly string[],
): Promise<readonly HeldLock[]> {
  const { waits } = state.plan;
  const names = others.length === 0 ? first : `${first} and ${others.length} more`;
  const summary = `${names}: check conflicting locks`;
  return retryWhileLost(waits, () =>
    readLockHolders.executeWithOptions({ ...readOptions(waits), summary }, [{ workflowIds }]),
  );
}

function titleOf(resource: ResourcePlan): string {
  return lockTitle(lockOf(resource), resource.name);
}

function conflictError(resource: ResourcePlan, lock: string, holder: HoldingUpgrade): ErrorBody {
  const what = `${titleOf(resource)} cannot be upgraded while ${lowerFirst(lockTitle(lock, holder.resourceName))} is`;
  return lockedBy(what, resource.resourceId, holder);
}

function lockedBy(what: string, resourceId: string, holder: HoldingUpgrade | undefined): ErrorBody {
  return {
    errorCode: "RESOURCE_LOCKED",
    errorType: "CONFLICT",
    message: `${what} held by ${holder === undefined ? "another upgrade" : holderTitle(holder)}; nothing was changed.`,
    remediationMessage: `Wait until ${holder === undefined ? "it" : holderTitle(holder)} ends, then retry.`,
    context: { resourceId, ...(holder !== undefined && { upgradeId: holder.upgradeId }) },
  };
}
