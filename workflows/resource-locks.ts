import {
  CancellationScope,
  ChildWorkflowCancellationType,
  isCancellation,
  log,
  ParentClosePolicy,
  proxyActivities,
  startChild,
  WorkflowIdReusePolicy,
  type ChildWorkflowHandle,
} from "@temporalio/workflow";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { isRight } from "fp-ts/Either";
import type { UpgradeActivities } from "../activities/contract";
import { ErrorBody } from "../src/domain/error-body";
import { conflictingLocks, lockOf } from "../src/domain/resource-lock";
import { initialResourceSubTask, resourceTitle } from "../src/domain/resource-progress";
import { toTimestamp } from "../src/domain/timestamp";
import type { ResourcePlan } from "../src/domain/upgrade-plan";
import { childEndOf, childFailureDetail, childWasCancelled } from "./activity-failure";
import { beginSignal, type ResourceMemo, type ResourceResult, type ResourceWorkflow } from "./messages";
import { relayPauses } from "./relay-pauses";
import { causingRequest } from "./request-cause";
import { readOptions } from "./retry-policy";
import { bundleIdKey, resourceIdsKey } from "./search-attributes";
import { untilAnswered } from "./until-answered";
import type { UpgradeState } from "./upgrade-state";

const { readLockHolder, readLockHolders } =
  proxyActivities<Pick<UpgradeActivities, "readLockHolder" | "readLockHolders">>(readOptions());

/** How often a lock is tried again whose holder has ended in the meantime. */
const maximumTries = 5;

/** A resource whose own Workflow runs, and with it the lock. */
export interface LockedResource {
  readonly resource: ResourcePlan;
  /** Lets it begin. Where it has ended before its turn, `ended` says so. */
  begin(): Promise<void>;
  /** Ends it before it has begun. */
  release(): void;
  /** How it ended; never rejects, except for a cancellation of the upgrade itself. */
  readonly ended: Promise<ResourceResult>;
}

/**
 * Takes the locks of resources by starting their Workflows, one after another in the order of their ids: of upgrades
 * that race for overlapping resources one always gets through. Then sees that nobody holds a lock that conflicts with
 * them: in this order a conflict is never missed. Gives the error that names the holder where one is held; those
 * already taken are released then.
 */
export async function acquireLocks(
  state: UpgradeState,
  resources: readonly ResourcePlan[],
): Promise<LockedResource[] | ErrorBody> {
  const ordered = [...resources].sort((a, b) => (a.resourceId < b.resourceId ? -1 : 1));
  const locked: LockedResource[] = [];
  let complete = false;
  try {
    for (const resource of ordered) {
      const lock = await acquireLock(state, resource);
      if ("message" in lock) return lock;
      locked.push(lock);
    }
    const conflict = await findConflict(state, resources);
    if (conflict) return conflict;
    complete = true;
    return locked;
  } finally {
    if (!complete) await CancellationScope.nonCancellable(() => releaseAll(locked));
  }
}

/** Every lock is given back: what has not begun ends now, what has is waited for. */
export async function releaseAll(locked: readonly LockedResource[]): Promise<void> {
  locked.forEach((resource) => resource.release());
  await Promise.all(locked.map(({ ended }) => ended));
}

async function acquireLock(state: UpgradeState, resource: ResourcePlan): Promise<LockedResource | ErrorBody> {
  const workflowId = lockOf(resource);
  let holder: string | undefined;
  for (let tries = 0; tries < maximumTries; tries++) {
    const scope = new CancellationScope();
    try {
      const child = await scope.run(() => startResourceWorkflow(state, resource, workflowId));
      state.childStarted({ resourceId: resource.resourceId, workflowId, runId: child.firstExecutionRunId });
      const ended = resultOf(child);
      return {
        resource,
        begin: () => beginChild(state, child, ended),
        release: () => scope.cancel(),
        ended,
      };
    } catch (failure) {
      if (!(failure instanceof WorkflowExecutionAlreadyStartedError)) throw failure;
      const summary = `${resource.name}: who holds it?`;
      const read = () =>
        readLockHolder.executeWithOptions({ ...readOptions(state.plan.waits), summary }, [{ workflowId }]);
      holder = (await untilAnswered(state.plan.waits, read)).upgradeId;
      if (holder !== undefined) break;
    }
  }
  return lockedBy(`${resourceTitle(resource)} is`, resource.resourceId, holder);
}

async function findConflict(state: UpgradeState, resources: readonly ResourcePlan[]): Promise<ErrorBody | undefined> {
  const own = new Set(state.resources.map(lockOf));
  for (const resource of resources) {
    const locks = conflictingLocks(resource).filter((lock) => !own.has(lock));
    if (locks.length === 0) continue;
    const summary = `${resource.name}: is what it must not meet in use?`;
    const read = () =>
      readLockHolders.executeWithOptions({ ...readOptions(state.plan.waits), summary }, [{ workflowIds: locks }]);
    const [held] = await untilAnswered(state.plan.waits, read);
    if (held)
      return lockedBy(
        `${resourceTitle(resource)} cannot be upgraded while ${held.workflowId} is`,
        resource.resourceId,
        held.upgradeId,
      );
  }
  return undefined;
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

function startResourceWorkflow(state: UpgradeState, resource: ResourcePlan, workflowId: string) {
  const { id, bundle } = state.plan;
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
      subTask: initialResourceSubTask(resource, toTimestamp(Date.now())),
      ...(requestId !== undefined && { requestId }),
    } satisfies ResourceMemo,
    typedSearchAttributes: [
      { key: resourceIdsKey, value: [resource.resourceId] },
      { key: bundleIdKey, value: bundle.id },
    ],
    staticSummary: `${resource.name} to ${resource.targetVersion}`,
    staticDetails: `**${resourceTitle(resource)}** (${resource.resourceId}), part of upgrade \`${id}\`.`,
  });
}

function resourceWorkflow(state: UpgradeState, resource: ResourcePlan) {
  const { id: upgradeId, waits } = state.plan;
  const common = { upgradeId, ...(waits && { waits }) };
  switch (resource.kind) {
    case "IMAGE":
    case "BASELINE": {
      const upgradedBefore = state.resultOf(resource.resourceId)?.upgradedHosts ?? [];
      return { type: "clusterUpgradeWorkflow", input: { ...common, cluster: resource, upgradedBefore } };
    }
    case "NETVIRT":
      return { type: "netvirtUpgradeWorkflow", input: { ...common, netvirt: resource } };
    case "MGMT":
      return { type: "mgmtUpgradeWorkflow", input: { ...common, mgmt: resource } };
  }
}

async function beginChild(
  state: UpgradeState,
  child: ChildWorkflowHandle<ResourceWorkflow>,
  ended: Promise<unknown>,
): Promise<void> {
  void relayPauses(child, state, ended);
  try {
    await child.signal(beginSignal);
  } catch (failure) {
    if (isCancellation(failure)) throw failure;
    log.warn("The Workflow of a resource could not be told to begin", { workflowId: child.workflowId, failure });
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

/** A detail comes from our own child, of this or of an older build; a result has an outcome, hosts and an error. */
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
