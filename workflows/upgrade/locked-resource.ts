import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
} from "@temporalio/workflow";
import { isRight } from "fp-ts/Either";
import { checksFor } from "../../src/domain/checks/own-check";
import { ErrorBody } from "../../src/domain/errors";
import type { MgmtUpgradePlan, ResourcePlan, UpgradePlan } from "../../src/domain/plan/upgrade-plan";
import { lockOf } from "../../src/domain/resource-lock";
import { findingKey } from "../../src/domain/task/findings";
import { initialResourceSubTask } from "../../src/domain/task/resource-progress";
import { now } from "../clock";
import { resourceOrigin } from "../details";
import { childEndOf, childFailureDetail, childWasCancelled } from "../failures";
import { childColumns } from "../list-columns";
import {
  type BeginPayload,
  beginSignal,
  type ResourceMemo,
  type ResourceResult,
  type ResourceWorkflow,
  skipHostSignal,
} from "../messages";
import { causingRequest } from "../request-cause";
import { bundleIdKey, resourceIdsKey } from "../search-attributes";
import type { HeldResource } from "./host-skips";
import { relayOverride, relayPauses, relayStarts, relaySwitchovers, type Child } from "./resource-relays";
import type { UpgradeState } from "./upgrade-state";

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
export async function lockResource(state: UpgradeState, resource: ResourcePlan): Promise<LockedResource | undefined> {
  const workflowId = lockOf(resource);
  const scope = new CancellationScope();
  try {
    const child = await scope.run(() => startResourceWorkflow(state, resource, workflowId));
    state.known.childStarted({ resourceId: resource.resourceId, workflowId, runId: child.firstExecutionRunId });
    if (scope.consideredCancelled) await cancelAgain(child);
    const ended = resultOf(child);
    const told = Promise.all([
      relayStarts(child, startIn(state, resource), ended),
      relayOverride(child, overrideIn(state, resource), ended),
    ]);
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
      askToSkip: (question) => locked.tell(skipHostSignal, question),
      tell: (signal, payload) => sendTo(child, () => child.signal(signal, payload)),
      settled: () => Promise.all([ended, relayed, told]),
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

/** Whether maintenance windows are ignored, by the plan that its Workflow was started with, and now. */
function overrideIn(state: UpgradeState, { places }: ResourcePlan) {
  const known = places.some(({ ignoresCalendar }) => ignoresCalendar === true);
  return { known, current: () => known || state.plan.maintenanceOverride !== undefined };
}

/** A cancellation that comes while the Workflow is being started may have overtaken the start, and found nothing to cancel. */
async function cancelAgain({ workflowId, firstExecutionRunId }: Child): Promise<void> {
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
  const checked = resourceChecks(state.plan, resource);
  const common = { upgradeId, waits, ...(checked && { checked }) };
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

/** The checks of the inventory that a resource's own Workflow asks; undefined where there are none. */
function resourceChecks({ name, bundle, checks = [] }: UpgradePlan, { places }: ResourcePlan) {
  const own = checksFor(checks, places).filter(({ at }) => at.some((point) => point !== "BEFORE_UPGRADE"));
  return own.length === 0 ? undefined : { upgradeName: name, bundleId: bundle.id, checks: own };
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

async function resultOf(child: Child): Promise<ResourceResult> {
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
