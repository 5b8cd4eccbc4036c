import { log } from "@temporalio/workflow";
import type { WorkStage } from "../../activities/contract";
import type { ErrorBody } from "../../src/domain/errors";
import { clustersOf, isCluster, type ResourcePlan } from "../../src/domain/plan/upgrade-plan";
import { withAcknowledgements } from "../../src/domain/task/findings";
import { precheckFailed } from "../../src/domain/task/left-out";
import { type FailedPrechecks, failedPrechecks } from "../../src/domain/task/precheck-errors";
import { currentTime } from "../clock";
import { precheckResource } from "../precheck-resource";
import { tellPrechecks } from "./upgrade-log";
import type { UpgradeState } from "./upgrade-state";

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
