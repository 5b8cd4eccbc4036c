import { CancellationScope, isCancellation, log, proxyActivities } from "@temporalio/workflow";
import type { ResourcePrechecks, UpgradeActivities, WorkStage } from "../../activities/contract";
import type { ErrorBody } from "../../src/domain/errors";
import { clustersOf, isCluster, type ResourcePlan } from "../../src/domain/plan/upgrade-plan";
import type { Stage } from "../../src/domain/spec/task";
import { type AcknowledgedFinding, findingKey, withAcknowledgements } from "../../src/domain/task/findings";
import { precheckFailed } from "../../src/domain/task/left-out";
import { type FailedPrechecks, failedPrechecks } from "../../src/domain/task/precheck-errors";
import { stagesOf } from "../../src/domain/task/resource-stages";
import type { ActivityWaits } from "../../src/domain/time-limits";
import { clusterTarget, mgmtTarget, netvirtTarget, precheckOptions } from "../activity-options";
import { currentTime, now } from "../clock";
import { errorOf } from "../failures";
import { retryWhileLost } from "../lost-activities";
import { tellPrechecks } from "./upgrade-log";
import type { UpgradeState } from "./upgrade-state";

const prechecks =
  proxyActivities<Pick<UpgradeActivities, "runClusterPrechecks" | "runNetvirtPrechecks" | "runMgmtPrechecks">>(
    precheckOptions(),
  );

/**
 * Runs the prechecks of all the resources at the same time, to the last one even if one fails. Gives the errors, one
 * per resource that cannot be upgraded; none where the upgrade may go on, without clusters that the request lets be left out.
 */
export async function runPrechecks(
  state: UpgradeState,
  resources: readonly ResourcePlan[],
  stage: WorkStage = "FIRST_CONTACT",
): Promise<ErrorBody[]> {
  state.failedPrechecks = [];
  state.known.takeBack(resources);
  state.record({ type: "PrechecksStarted", resources });
  await Promise.all(
    resources.map(async (resource) => {
      const { resourceId } = resource;
      const acknowledged = state.acknowledgements.inForce(resourceId);
      const { stages: found, versions } = await precheckResource(resource, { stage, acknowledged }, state.plan.waits);
      if (versions) state.versionsRead(resourceId, versions);
      const stages = withAcknowledgements(found, state.acknowledgements.all, currentTime());
      state.record({ type: "ResourcePrechecked", resourceId, stages });
      tellPrechecks(resource, stages);
    }),
  );
  state.record({ type: "PrechecksEnded" });
  // Read from the Task: of what was acknowledged while they ran, nothing fails. An operator may also have left one out.
  const failures = failedPrechecks(state.task, resources).filter(({ resource }) => !state.known.isSkipped(resource));
  const leavesOut = mayLeaveOut(state, failures);
  if (leavesOut) for (const { resource, error } of failures) leaveOut(state, resource, error);
  const errors = leavesOut ? [] : failures.map(({ error }) => error);
  state.failedPrechecks = errors;
  return errors;
}

/** Whether the rest of the upgrade goes on: the request asks for it, and a cluster is left. A server is needed by the rest. */
function mayLeaveOut({ plan, known }: UpgradeState, failures: readonly FailedPrechecks[]): boolean {
  if (plan.spec.onPrecheckFailure !== "SKIP_RESOURCE" || failures.length === 0) return false;
  if (!failures.every(({ resource }) => isCluster(resource))) return false;
  const failed = new Set(failures.map(({ resource }) => resource.resourceId));
  return clustersOf(plan).some(({ resourceId }) => !failed.has(resourceId) && !known.leftOut.has(resourceId));
}

function leaveOut(state: UpgradeState, resource: ResourcePlan, error: ErrorBody): void {
  const { resourceId, name } = resource;
  log.warn("A cluster is left out because its prechecks failed", { resourceId, resource: name });
  state.known.leaveOut(resourceId, { reasonCode: "PRECHECK_FAILED", error });
  state.record({ type: "ResourceLeftOut", resourceId, error, ...precheckFailed });
  state.activity.resourceLeftOut(resource, error);
}

/** Checks that could not be run are failed checks, so that they appear on the Task like any other. */
async function precheckResource(
  resource: ResourcePlan,
  how: HowToRun,
  waits: ActivityWaits,
): Promise<ResourcePrechecks> {
  try {
    return await retryWhileLost(waits, () => startPrechecks(resource, how, waits));
  } catch (failure) {
    if (isCancellation(failure) || CancellationScope.current().consideredCancelled) throw failure;
    const at = now();
    const stages = stagesOf({ RUN_PRECHECKS: "Run prechecks" }, at).map((stage): Stage => ({
      ...stage,
      status: "FAILED",
      completionTimestamp: at,
      errors: [errorOf(failure)],
    }));
    return { stages };
  }
}

/** The stage, and the findings that are acknowledged. */
interface HowToRun {
  readonly stage: WorkStage;
  readonly acknowledged: readonly AcknowledgedFinding[];
}

function startPrechecks(
  resource: ResourcePlan,
  { stage, acknowledged }: HowToRun,
  waits: ActivityWaits,
): Promise<ResourcePrechecks> {
  const options = { ...precheckOptions(waits), summary: `${resource.name}: prechecks` };
  const how = { stage, ...(acknowledged.length > 0 && { acknowledged: acknowledged.map(findingKey) }) };
  switch (resource.kind) {
    case "IMAGE":
    case "BASELINE":
      return prechecks.runClusterPrechecks.executeWithOptions(options, [{ ...clusterTarget(resource), ...how }]);
    case "NETVIRT":
      return prechecks.runNetvirtPrechecks.executeWithOptions(options, [{ ...netvirtTarget(resource), ...how }]);
    case "MGMT":
      return prechecks.runMgmtPrechecks.executeWithOptions(options, [{ ...mgmtTarget(resource), ...how }]);
  }
}
