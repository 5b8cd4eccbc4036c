import {
  CancellationScope,
  ChildWorkflowCancellationType,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
  type ChildWorkflowHandle,
} from "@temporalio/workflow";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { isRight } from "fp-ts/Either";
import { ErrorBody } from "../src/domain/error-body";
import { lockOf } from "../src/domain/resource-lock";
import { initialResourceSubTask, resourceTitle } from "../src/domain/resource-progress";
import type { MgmtUpgradePlan, ResourcePlan } from "../src/domain/upgrade-plan";
import { childEndOf, childFailureDetail, childWasCancelled } from "./activity-failure";
import { now } from "./clock";
import { beginSignal, type ResourceMemo, type ResourceResult, type ResourceWorkflow } from "./messages";
import { relayPauses, relaySwitchovers } from "./relay-pauses";
import { causingRequest } from "./request-cause";
import { bundleIdKey, resourceIdsKey } from "./search-attributes";
import type { UpgradeState } from "./upgrade-state";

/** A resource whose own Workflow runs, and with it the lock. */
export interface LockedResource {
  readonly resource: ResourcePlan;
  /** Lets it begin. Where it has ended before its turn, `ended` says so. */
  begin(): Promise<void>;
  /** Ends when it has ended and nothing more is being told to it. */
  settled(): Promise<unknown>;
  /** Ends it before it has begun. */
  release(): void;
  /** How it ended; never rejects, except for a cancellation of the upgrade itself. */
  readonly ended: Promise<ResourceResult>;
}

/** Takes the lock of a resource by starting its Workflow; undefined where somebody holds it. */
export async function lockResource(state: UpgradeState, resource: ResourcePlan): Promise<LockedResource | undefined> {
  const workflowId = lockOf(resource);
  const scope = new CancellationScope();
  try {
    const child = await scope.run(() => startResourceWorkflow(state, resource, workflowId));
    state.childStarted({ resourceId: resource.resourceId, workflowId, runId: child.firstExecutionRunId });
    if (scope.consideredCancelled) await cancelAgain(child);
    const ended = resultOf(child);
    let relayed: Promise<unknown> | undefined;
    return {
      resource,
      begin: () => {
        relayed = Promise.all([
          relayPauses(child, state, ended),
          ...(resource.kind === "MGMT" ? [relaySwitchovers(child, switchoverIn(state, resource), ended)] : []),
        ]);
        return beginChild(child);
      },
      settled: () => Promise.all([ended, relayed]),
      release: () => scope.cancel(),
      ended,
    };
  } catch (failure) {
    if (failure instanceof WorkflowExecutionAlreadyStartedError) return undefined;
    throw failure;
  }
}

/** What its Workflow was started with, and what holds now. */
function switchoverIn(state: UpgradeState, { resourceId, startSwitchoverTimestamp: known }: MgmtUpgradePlan) {
  return { known, current: () => state.switchoverOf(resourceId) };
}

/** A cancellation that comes while the Workflow is being started may have overtaken the start, and found nothing to cancel. */
async function cancelAgain({ workflowId, firstExecutionRunId }: ChildWorkflowHandle<ResourceWorkflow>): Promise<void> {
  try {
    const child = getExternalWorkflowHandle(workflowId, firstExecutionRunId);
    await CancellationScope.nonCancellable(() => child.cancel());
  } catch (failure) {
    log.info("The Workflow of a resource had ended before it was cancelled again", { workflowId, failure });
  }
}

/** Every lock is given back: what has not begun ends now, what has is waited for. */
export async function releaseAll(locked: readonly LockedResource[]): Promise<void> {
  locked.forEach((resource) => resource.release());
  await Promise.all(locked.map((resource) => resource.settled()));
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
      subTask: initialResourceSubTask(resource, now()),
      publishedAt: now(),
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
  const common = { upgradeId, waits };
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

async function beginChild(child: ChildWorkflowHandle<ResourceWorkflow>): Promise<void> {
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
