import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  type ChildWorkflowHandle,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  ParentClosePolicy,
  proxyActivities,
  type SignalDefinition,
  sleep,
  startChild,
  upsertMemo,
  workflowInfo,
  WorkflowIdReusePolicy,
} from "@temporalio/workflow";
import { isRight } from "fp-ts/Either";
import type { HeldLock, UpgradeActivities } from "../../activities/contract";
import { ErrorBody } from "../../src/domain/errors";
import { lowerFirst } from "../../src/domain/names";
import type { MgmtUpgradePlan, ResourcePlan } from "../../src/domain/plan/upgrade-plan";
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
import { findingKey } from "../../src/domain/task/findings";
import { initialResourceSubTask } from "../../src/domain/task/resource-progress";
import { readOptions } from "../activity-options";
import { currentTime, now } from "../clock";
import { resourceOrigin } from "../details";
import { childEndOf, childFailureDetail, childWasCancelled } from "../failures";
import { retryWhileLost } from "../lost-activities";
import { childColumns } from "../list-columns";
import {
  type BeginPayload,
  beginSignal,
  pausedSignal,
  rescheduledSignal,
  type ResourceMemo,
  type ResourceResult,
  type ResourceWorkflow,
  skipHostSignal,
  switchoverSignal,
  type UpgradeMemo,
} from "../messages";
import { causingRequest } from "../request-cause";
import { bundleIdKey, resourceIdsKey } from "../search-attributes";
import type { HeldResource } from "./host-skips";
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

/** A resource whose own Workflow runs, and with it the lock. */
export interface LockedResource extends HeldResource {
  readonly resource: ResourcePlan;
  /** Lets it begin. Where it has ended before its turn, `ended` says so. */
  begin(): Promise<void>;
  /** Ends when it has ended and nothing more is being told to it. */
  settled(): Promise<unknown>;
  /** How it ended; never rejects, except for a cancellation of the upgrade itself. */
  readonly ended: Promise<ResourceResult>;
}

/** Takes the lock of a resource by starting its Workflow; undefined where somebody holds it. */
async function lockResource(state: UpgradeState, resource: ResourcePlan): Promise<LockedResource | undefined> {
  const workflowId = lockOf(resource);
  const scope = new CancellationScope();
  try {
    const child = await scope.run(() => startResourceWorkflow(state, resource, workflowId));
    state.known.childStarted({ resourceId: resource.resourceId, workflowId, runId: child.firstExecutionRunId });
    if (scope.consideredCancelled) await cancelAgain(child);
    const ended = resultOf(child);
    const rescheduled = relayStarts(child, startIn(state, resource), ended);
    let relayed: Promise<unknown> | undefined;
    const locked: LockedResource = {
      resource,
      begin: () => {
        relayed = Promise.all([
          relayPauses(child, state, ended),
          ...(resource.kind === "MGMT" ? [relaySwitchovers(child, switchoverIn(state, resource), ended)] : []),
        ]);
        return beginChild(child, beginningOf(state, resource));
      },
      askToSkip: (question) => sendTo(child, () => child.signal(skipHostSignal, question)),
      settled: () => Promise.all([ended, relayed, rescheduled]),
      release: () => scope.cancel(),
      ended,
    };
    state.locked.set(resource.resourceId, locked);
    // Left out while its Workflow was being started.
    if (state.known.isSkipped(resource)) locked.release();
    return locked;
  } catch (failure) {
    if (failure instanceof WorkflowExecutionAlreadyStartedError) return undefined;
    throw failure;
  }
}

/** What its Workflow was started with, and what holds now. */
function switchoverIn(state: UpgradeState, { resourceId, startSwitchoverTimestamp: known }: MgmtUpgradePlan) {
  return { known, current: () => state.times.switchoverOf(resourceId) };
}

/** When it begins, as its Workflow was told at its start, and as holds now. A plan that has not changed is not searched. */
function startIn(state: UpgradeState, { resourceId, scheduledTimestamp }: ResourcePlan) {
  const known = scheduledTimestamp ?? null;
  let { plan } = state;
  let startsAt = known;
  const current = () => {
    if (plan !== state.plan) {
      plan = state.plan;
      startsAt = state.resources.find((one) => one.resourceId === resourceId)?.scheduledTimestamp ?? null;
    }
    return startsAt;
  };
  return { known, current };
}

/** A cancellation that comes while the Workflow is being started may have overtaken the start, and found nothing to cancel. */
async function cancelAgain({ workflowId, firstExecutionRunId }: ChildWorkflowHandle<ResourceWorkflow>): Promise<void> {
  try {
    const child = getExternalWorkflowHandle(workflowId, firstExecutionRunId);
    await CancellationScope.nonCancellable(() => child.cancel());
  } catch (failure) {
    log.info("The Workflow of a resource ended before it was cancelled again", { workflowId, failure });
  }
}

/** Every lock is given back: what has not begun ends now, what has is waited for. */
export async function releaseAll(locked: readonly LockedResource[]): Promise<void> {
  locked.forEach((resource) => resource.release());
  await Promise.all(locked.map((resource) => resource.settled()));
}

function startResourceWorkflow(state: UpgradeState, resource: ResourcePlan, workflowId: string) {
  const { id, name, bundle } = state.plan;
  const { type, input } = resourceWorkflow(state, resource);
  const requestId = causingRequest();
  return startChild<ResourceWorkflow>(type, {
    workflowId,
    args: [input],
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    memo: {
      upgradeId: id,
      upgradeName: name,
      resourceName: resource.name,
      subTask: initialResourceSubTask(resource, now()),
      publishedAt: now(),
      ...(requestId !== undefined && { requestId }),
    } satisfies ResourceMemo,
    typedSearchAttributes: [
      { key: resourceIdsKey, value: [resource.resourceId] },
      { key: bundleIdKey, value: bundle.id },
      ...childColumns({
        name: resource.name,
        targetVersion: resource.targetVersion,
        startsAt: resource.scheduledTimestamp,
      }),
    ],
    staticSummary: `${resource.name} to ${resource.targetVersion}`,
    staticDetails: resourceOrigin(state.plan, resource),
  });
}

function resourceWorkflow(state: UpgradeState, resource: ResourcePlan) {
  const { id: upgradeId, waits } = state.plan;
  const common = { upgradeId, waits };
  switch (resource.kind) {
    case "IMAGE":
    case "BASELINE": {
      const upgradedBefore = state.known.resultOf(resource.resourceId)?.upgradedHosts ?? [];
      return { type: "clusterUpgradeWorkflow", input: { ...common, cluster: resource, upgradedBefore } };
    }
    case "NETVIRT":
      return { type: "netvirtUpgradeWorkflow", input: { ...common, netvirt: resource } };
    case "MGMT":
      return { type: "mgmtUpgradeWorkflow", input: { ...common, mgmt: resource } };
  }
}

/** What goes with the beginning of a resource. It needs to know what was acknowledged and until when, not by whom. */
function beginningOf({ known, acknowledgements }: UpgradeState, { resourceId }: ResourcePlan): BeginPayload {
  const acknowledged = acknowledgements
    .inForce(resourceId)
    .map(({ until, ...finding }) => ({ ...findingKey(finding), ...(until !== undefined && { until }) }));
  const skippedHosts = known.skippedHosts
    .filter((host) => host.resourceId === resourceId)
    .map(({ hostId: host, reason, by }) => ({ host, reason, ...(by !== undefined && { by }) }));
  return {
    ...(acknowledged.length > 0 && { acknowledged }),
    ...(skippedHosts.length > 0 && { skippedHosts }),
  };
}

function beginChild(child: Child, begin: BeginPayload): Promise<void> {
  return sendTo(child, () =>
    Object.keys(begin).length === 0 ? child.signal(beginSignal) : child.signal(beginSignal, begin),
  );
}

/** Sends a Signal to the Workflow of a resource; one that has ended needs it no more. */
async function sendTo({ workflowId }: Child, send: () => Promise<void>): Promise<void> {
  try {
    await send();
  } catch (failure) {
    if (isCancellation(failure)) throw failure;
    log.warn("Could not signal the Workflow of a resource", { workflowId, failure });
  }
}

async function resultOf(child: ChildWorkflowHandle<ResourceWorkflow>): Promise<ResourceResult> {
  try {
    return await child.result();
  } catch (failure) {
    const result = childFailureDetail(failure);
    if (isResourceResult(result)) return result;
    const cancelled = childWasCancelled(failure) || isCancellation(failure);
    return { ...noHosts, outcome: cancelled ? "CANCELLED" : "FAILED", error: endedOtherwise(cancelled, failure) };
  }
}

const noHosts = { hosts: { total: 0, upgraded: 0, skipped: 0, failed: 0, left: 0 }, upgradedHosts: [] };

/** A detail comes from our own child; a result has an outcome, hosts and an error. */
function isResourceResult(detail: unknown): detail is ResourceResult {
  return (
    typeof detail === "object" &&
    detail !== null &&
    "outcome" in detail &&
    "hosts" in detail &&
    "error" in detail &&
    isRight(ErrorBody.decode(detail.error))
  );
}

function endedOtherwise(cancelled: boolean, failure: unknown): ErrorBody {
  return {
    errorCode: cancelled ? "CANCELLED" : "CLUSTER_WORKFLOW_LOST",
    errorType: cancelled ? "CANCELLED" : "INTERNAL",
    message: cancelled
      ? "The upgrade of this resource was cancelled."
      : `The Workflow of this resource ${childEndOf(failure)}; its parts may be in any state.`,
    remediationMessage: "Check its state and settings in the component manager, then retry.",
  };
}

type Child = ChildWorkflowHandle<ResourceWorkflow>;

/** How many resumes are told at once, and by how much longer after its pause each further one is told (milliseconds). */
const resumes = { atOnce: 20, laterEach: 30_000 };

/**
 * Tells a resource's Workflow of every pause and resumption of its upgrade, until it has ended. Each change puts all that is
 * known of its hosts into its history, 120 KB for 128 hosts, and a script that pauses and resumes would fill that. So after
 * many changes a resumption soon after its pause is told later, or not at all where the upgrade is paused again by then. A
 * pause is told at once.
 */
function relayPauses(child: Child, upgrade: { readonly paused: boolean }, ended: Promise<unknown>): Promise<void> {
  const spacing = (paused: boolean, told: number) =>
    paused ? 0 : Math.max(0, Math.ceil(told / 2) - resumes.atOnce) * resumes.laterEach;
  return relay(child, { signal: pausedSignal, current: () => upgrade.paused, known: false, spacing }, ended);
}

/** Tells a resource's Workflow of every other time at which it begins, until it has ended. One that has begun keeps its time. */
function relayStarts(
  child: Child,
  { known, current }: { readonly known: string | null; readonly current: () => string | null },
  ended: Promise<unknown>,
): Promise<void> {
  return relay(child, { signal: rescheduledSignal, current, known }, ended);
}

/** Tells the Workflow of a management server of every new time of its switchover, until it has ended. */
function relaySwitchovers(
  child: Child,
  { known, current }: { readonly known: string | undefined; readonly current: () => string | undefined },
  ended: Promise<unknown>,
): Promise<void> {
  return relay(child, { signal: switchoverSignal, current, known }, ended);
}

interface Relayed<T> {
  readonly signal: SignalDefinition<[value: unknown]>;
  /** How things stand now. */
  readonly current: () => T;
  /** How the resource's Workflow takes things to be when it begins. */
  readonly known: T;
  /** How long after the one before a change is told at the earliest, when so many were told (milliseconds). */
  readonly spacing?: (value: T, told: number) => number;
}

/** One Signal after the other, each with how things stand then: whatever order requests come in, the last word is right. */
async function relay<T>(
  child: Child,
  { signal, current, known, spacing = () => 0 }: Relayed<T>,
  ended: Promise<unknown>,
): Promise<void> {
  let last = { value: known, at: currentTime(), count: 0 };
  const end = { come: false };
  const noteEnd = () => {
    end.come = true;
  };
  ended.then(noteEnd, noteEnd);
  try {
    for (;;) {
      await condition(() => end.come || current() !== last.value);
      const wait = last.at + spacing(current(), last.count) - currentTime();
      const summary = "before a resource is told of one more change";
      if (wait > 0) await condition(() => end.come || current() === last.value, wait, { summary });
      if (end.come) return;
      if (current() === last.value) continue;
      last = { value: current(), at: currentTime(), count: last.count + 1 };
      await child.signal(signal, last.value);
    }
  } catch (failure) {
    if (isCancellation(failure)) return;
    const { workflowId } = child;
    log.warn("Could not signal a change to the Workflow of a resource", { workflowId, signal: signal.name, failure });
  }
}
