import { CancellationScope, patched, proxyActivities, sleep } from "@temporalio/workflow";
import type { LockHolder, UpgradeActivities } from "../activities/contract";
import type { ErrorBody } from "../src/domain/error-body";
import { conflictingLocks, inLockOrder, lockOf } from "../src/domain/resource-lock";
import { resourceTitle } from "../src/domain/resource-progress";
import type { ResourcePlan } from "../src/domain/upgrade-plan";
import { lockResource, releaseAll, type LockedResource } from "./locked-resource";
import { readOptions } from "./retry-policy";
import { untilAnswered } from "./until-answered";
import type { UpgradeState } from "./upgrade-state";

const { readLockHolder, readLockHolders } =
  proxyActivities<Pick<UpgradeActivities, "readLockHolder" | "readLockHolders">>(readOptions());

/** How often a lock is tried again whose holder has ended in the meantime. */
const maximumTries = 5;

/** How many locks are taken at the same time: each is a command that holds the plan of its resource. */
const locksAtOnce = 16;

/** How long a holder is waited for that may give its lock back at once, in milliseconds. */
const longestDecision = 20_000;
/** When it is looked at again, in milliseconds: at first, each time twice as long after, and at last. */
const nextLook = { first: 250, longest: 2000 };

/**
 * Takes the locks of resources, all that are free at the same time (docs/decisions/0032). From the first one on that is
 * held they are taken one after another in the order of their ids, and of what comes later none is kept meanwhile: of
 * upgrades that race for overlapping resources one always gets through. Then sees that nobody holds a lock that conflicts
 * with them. Gives the error that names the holder where one is held; those already taken are released then.
 */
export async function acquireLocks(
  state: UpgradeState,
  resources: readonly ResourcePlan[],
): Promise<LockedResource[] | ErrorBody> {
  const locked: LockedResource[] = [];
  let complete = false;
  try {
    if (resources.length > 1) state.actsTogether ||= patched("locks-together");
    for (const some of inLockOrder(resources, state.actsTogether ? locksAtOnce : 1)) {
      const held = await (some.length > 1 ? lockTogether(state, some, locked) : lockInOrder(state, some, locked));
      if (held) return held;
    }
    const conflict = await findConflict(state, resources);
    if (conflict) return conflict;
    complete = true;
    return locked;
  } finally {
    if (!complete) await CancellationScope.nonCancellable(() => releaseAll(locked));
  }
}

/** Adds the locks of resources to those that are `locked`; gives the error where one of them stays held. */
async function lockTogether(
  state: UpgradeState,
  resources: readonly ResourcePlan[],
  locked: LockedResource[],
): Promise<ErrorBody | undefined> {
  const tries = await Promise.allSettled(resources.map((resource) => lockResource(state, resource)));
  const taken = tries.map((end) => (end.status === "fulfilled" ? end.value : undefined));
  const missing = taken.indexOf(undefined);
  const [kept, early] = missing < 0 ? [taken, []] : [taken.slice(0, missing), taken.slice(missing)];
  locked.push(...kept.flatMap((lock) => lock ?? []));
  const released = early.flatMap((lock) => lock ?? []);
  await CancellationScope.nonCancellable(() => releaseAll(released));
  for (const { resource } of released) state.childReleased(resource);
  const failure = tries.find((end) => end.status === "rejected");
  if (failure) throw failure.reason;
  return missing < 0 ? undefined : lockInOrder(state, resources.slice(missing), locked);
}

/** The same, one after another. */
async function lockInOrder(
  state: UpgradeState,
  resources: readonly ResourcePlan[],
  locked: LockedResource[],
): Promise<ErrorBody | undefined> {
  for (const resource of resources) {
    const lock = await acquireLock(state, resource);
    if ("message" in lock) return lock;
    locked.push(lock);
  }
  return undefined;
}

async function acquireLock(state: UpgradeState, resource: ResourcePlan): Promise<LockedResource | ErrorBody> {
  const began = Date.now();
  let untilNextLook = nextLook.first;
  let holder: LockHolder = {};
  for (let tries = 0; tries < maximumTries && holder.upgradeId === undefined;) {
    const lock = await lockResource(state, resource);
    if (lock) return lock;
    holder = await readHolder(state, resource);
    // It holds what comes later in the order, and gives it back where it misses something that comes before.
    if (holder.isDeciding && Date.now() - began < longestDecision && patched("locks-together")) {
      await sleep(untilNextLook, { summary: `${resource.name}: until its holder has all that it wants, or nothing` });
      untilNextLook = Math.min(nextLook.longest, 2 * untilNextLook);
      holder = {};
    } else tries++;
  }
  return lockedBy(`${resourceTitle(resource)} is`, resource.resourceId, holder.upgradeId);
}

function readHolder(state: UpgradeState, resource: ResourcePlan): Promise<LockHolder> {
  const { waits } = state.plan;
  const summary = `${resource.name}: who holds it?`;
  return untilAnswered(waits, () =>
    readLockHolder.executeWithOptions({ ...readOptions(waits), summary }, [{ workflowId: lockOf(resource) }]),
  );
}

/** Looks at what resources must not meet: of all of them in one Activity, as far as the upgrade has begun so. */
async function findConflict(state: UpgradeState, resources: readonly ResourcePlan[]): Promise<ErrorBody | undefined> {
  const own = new Set(state.resources.map(lockOf));
  const meetings = resources
    .map((resource) => ({ resource, locks: conflictingLocks(resource).filter((lock) => !own.has(lock)) }))
    .filter(({ locks }) => locks.length > 0);
  for (const some of state.actsTogether && meetings.length > 0 ? [meetings] : meetings.map((one) => [one])) {
    const names = some.map(({ resource }) => resource.name);
    const held = await readHolders(state, [...new Set(some.flatMap(({ locks }) => locks))], names);
    for (const { resource, locks } of some) {
      const lock = locks.find((one) => held.has(one));
      if (lock === undefined) continue;
      const what = `${resourceTitle(resource)} cannot be upgraded while ${lock} is`;
      return lockedBy(what, resource.resourceId, held.get(lock));
    }
  }
  return undefined;
}

async function readHolders(
  state: UpgradeState,
  workflowIds: readonly string[],
  [first = "", ...others]: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { waits } = state.plan;
  const names = others.length === 0 ? first : `${first} and ${others.length} more`;
  const summary = `${names}: is what must not be met in use?`;
  const read = () => readLockHolders.executeWithOptions({ ...readOptions(waits), summary }, [{ workflowIds }]);
  return new Map((await untilAnswered(waits, read)).map(({ workflowId, upgradeId }) => [workflowId, upgradeId]));
}

function lockedBy(what: string, resourceId: string, holder: string | undefined): ErrorBody {
  return {
    errorCode: "RESOURCE_LOCKED",
    errorType: "CONFLICT",
    message: `${what} held by ${holder === undefined ? "another upgrade" : `upgrade ${holder}`}; nothing was touched.`,
    remediationMessage: `Wait until ${holder === undefined ? "it" : `upgrade ${holder}`} has ended, then retry.`,
    context: { resourceId, ...(holder !== undefined && { upgradeId: holder }) },
  };
}
