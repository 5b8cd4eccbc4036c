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
import { initialClusterSubTask } from "../src/domain/cluster-progress";
import { toTimestamp } from "../src/domain/timestamp";
import type { ClusterUpgradePlan } from "../src/domain/upgrade-plan";
import { childEndOf, childFailureDetail, childWasCancelled } from "./activity-failure";
import type { clusterUpgradeWorkflow } from "./cluster-upgrade-workflow";
import { beginSignal, clusterWorkflowId, type ResourceResult } from "./messages";
import { readOptions } from "./retry-policy";
import { bundleIdKey, resourceIdsKey } from "./search-attributes";
import { untilAnswered } from "./until-answered";
import type { UpgradeState } from "./upgrade-state";

const { readLockHolder } = proxyActivities<Pick<UpgradeActivities, "readLockHolder">>(readOptions);

/** How often a lock is tried again whose holder has ended in the meantime. */
const maximumTries = 5;

/** A resource whose own Workflow runs, and with it the lock. */
export interface LockedResource {
  readonly resource: ClusterUpgradePlan;
  /** Lets it begin. Where it has ended before its turn, `ended` says so. */
  begin(): Promise<void>;
  /** Ends it before it has begun. */
  release(): void;
  /** How it ended; never rejects, except for a cancellation of the upgrade itself. */
  readonly ended: Promise<ResourceResult>;
}

/**
 * Takes the locks of resources by starting their Workflows, one after another in the order of their ids: of upgrades
 * that race for overlapping resources one always gets through. Gives the error that names the holder where one is
 * held; those already taken are released then.
 */
export async function acquireLocks(
  state: UpgradeState,
  resources: readonly ClusterUpgradePlan[],
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

async function acquireLock(state: UpgradeState, resource: ClusterUpgradePlan): Promise<LockedResource | ErrorBody> {
  const workflowId = clusterWorkflowId(resource.resourceId);
  let holder: string | undefined;
  for (let tries = 0; tries < maximumTries; tries++) {
    const scope = new CancellationScope();
    try {
      const child = await scope.run(() => startResourceWorkflow(state, resource, workflowId));
      state.childStarted({ resourceId: resource.resourceId, workflowId, runId: child.firstExecutionRunId });
      return {
        resource,
        begin: () => beginChild(child),
        release: () => scope.cancel(),
        ended: resultOf(child),
      };
    } catch (failure) {
      if (!(failure instanceof WorkflowExecutionAlreadyStartedError)) throw failure;
      const summary = `${resource.name}: who holds it?`;
      const read = () => readLockHolder.executeWithOptions({ ...readOptions, summary }, [{ workflowId }]);
      holder = (await untilAnswered(read)).upgradeId;
      if (holder !== undefined) break;
    }
  }
  return {
    errorCode: "RESOURCE_LOCKED",
    errorType: "CONFLICT",
    message: `Cluster ${resource.name} is held by ${holder === undefined ? "another upgrade" : `upgrade ${holder}`}; no cluster was touched.`,
    remediationMessage: `Wait until ${holder === undefined ? "it" : `upgrade ${holder}`} has ended, then retry.`,
    context: { resourceId: resource.resourceId, ...(holder !== undefined && { upgradeId: holder }) },
  };
}

function startResourceWorkflow(state: UpgradeState, cluster: ClusterUpgradePlan, workflowId: string) {
  const { id, bundle } = state.plan;
  const upgradedBefore = state.resultOf(cluster.resourceId)?.upgradedHosts ?? [];
  return startChild<typeof clusterUpgradeWorkflow>("clusterUpgradeWorkflow", {
    workflowId,
    args: [{ upgradeId: id, cluster, upgradedBefore }],
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    memo: { upgradeId: id, subTask: initialClusterSubTask(cluster, toTimestamp(Date.now())) },
    typedSearchAttributes: [
      { key: resourceIdsKey, value: [cluster.resourceId] },
      { key: bundleIdKey, value: bundle.id },
    ],
    staticSummary: `${cluster.name} to ${cluster.targetVersion}`,
    staticDetails: `Cluster **${cluster.name}** (${cluster.resourceId}), part of upgrade \`${id}\`.`,
  });
}

async function beginChild(child: ChildWorkflowHandle<typeof clusterUpgradeWorkflow>): Promise<void> {
  try {
    await child.signal(beginSignal);
  } catch (failure) {
    if (isCancellation(failure)) throw failure;
    log.warn("The Workflow of a resource could not be told to begin", { workflowId: child.workflowId, failure });
  }
}

async function resultOf(child: ChildWorkflowHandle<typeof clusterUpgradeWorkflow>): Promise<ResourceResult> {
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
      ? "The upgrade of this cluster was cancelled."
      : `The Workflow of this cluster ${childEndOf(failure)}; its hosts may be in any state.`,
    remediationMessage: "Check the cluster's hosts and settings in the component manager, then retry.",
  };
}
