import { CancellationScope, proxyActivities, sleep } from "@temporalio/workflow";
import type { UpgradeActivities } from "../activities/contract";
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

/**
 * How often an upgrade looks before it gives way to a holder with a lesser or with a greater Task id, and the wait between
 * looks (milliseconds). Who is about to lose another of its locks releases all of them before the second.
 */
const maximumLooks = { lesser: 2, greater: 5 };
const betweenLooks = 2_000;

/**
 * Takes the locks of resources one after another in the order of their ids, so that of upgrades which race for overlapping
 * resources one always gets through. Then sees that nobody holds a lock that conflicts with them. Gives the error that
 * names the holder where one is held; those already taken are released then. Two that have taken conflicting locks at the
 * same time both see that: the one with the greater Task id gives way first, and the other gets through.
 */
export async function acquireLocks(
  state: UpgradeState,
  resources: readonly ResourcePlan[],
): Promise<LockedResource[] | ErrorBody> {
  const locked: LockedResource[] = [];
  let complete = false;
  try {
    for (const resource of inLockOrder(resources)) {
      const lock = await acquireLock(state, resource);
      if ("message" in lock) return lock;
      locked.push(lock);
    }
    for (let looks = 1; ; looks++) {
      const conflict = await findConflict(state, resources);
      complete = conflict === undefined;
      if (!conflict) return locked;
      const most = conflict.holder < state.plan.id ? maximumLooks.lesser : maximumLooks.greater;
      if (looks >= most) return conflict.error;
      await sleep(betweenLooks, { summary: `gives upgrade ${conflict.holder} time to give way` });
    }
  } finally {
    if (!complete) await CancellationScope.nonCancellable(() => releaseAll(locked));
  }
}

async function acquireLock(state: UpgradeState, resource: ResourcePlan): Promise<LockedResource | ErrorBody> {
  let holder: string | undefined;
  for (let tries = 0; tries < maximumTries && holder === undefined; tries++) {
    const lock = await lockResource(state, resource);
    if (lock) return lock;
    ({ upgradeId: holder } = await readHolder(state, resource));
  }
  return lockedBy(`${resourceTitle(resource)} is`, resource.resourceId, holder);
}

function readHolder(state: UpgradeState, resource: ResourcePlan) {
  const { waits } = state.plan;
  const summary = `${resource.name}: who holds it?`;
  return untilAnswered(waits, () =>
    readLockHolder.executeWithOptions({ ...readOptions(waits), summary }, [{ workflowId: lockOf(resource) }]),
  );
}

interface Conflict {
  readonly error: ErrorBody;
  /** The least id among the upgrades that hold a conflicting lock. */
  readonly holder: string;
}

/** Looks at what resources must not meet, all of it at once. */
async function findConflict(state: UpgradeState, resources: readonly ResourcePlan[]): Promise<Conflict | undefined> {
  const own = new Set(state.resources.map(lockOf));
  const meetings = resources
    .map((resource) => ({ resource, locks: conflictingLocks(resource).filter((lock) => !own.has(lock)) }))
    .filter(({ locks }) => locks.length > 0);
  if (meetings.length === 0) return undefined;
  const names = meetings.map(({ resource }) => resource.name);
  const held = await readHolders(state, [...new Set(meetings.flatMap(({ locks }) => locks))], names);
  const [holder] = [...held.values()].sort();
  for (const { resource, locks } of meetings) {
    const lock = locks.find((one) => held.get(one) === holder);
    if (holder === undefined || lock === undefined) continue;
    const what = `${resourceTitle(resource)} cannot be upgraded while ${lock} is`;
    return { error: lockedBy(what, resource.resourceId, holder), holder };
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
