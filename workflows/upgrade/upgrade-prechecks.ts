import { CancellationScope, isCancellation, log, proxyActivities } from "@temporalio/workflow";
import type { ClusterPrechecks, UpgradeActivities, WorkStage } from "../../activities/contract";
import type { ErrorBody } from "../../src/domain/errors";
import { clustersOf, isCluster, type ResourcePlan } from "../../src/domain/plan/upgrade-plan";
import type { Stage } from "../../src/domain/spec/task";
import { precheckFailed } from "../../src/domain/task/left-out";
import { resourceTitle } from "../../src/domain/task/resource-progress";
import { stagesOf } from "../../src/domain/task/resource-stages";
import type { ActivityWaits } from "../../src/domain/time-limits";
import { clusterTarget, mgmtTarget, netvirtTarget, precheckOptions } from "../activity-options";
import { now } from "../clock";
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
  const failures: Failure[] = [];
  await Promise.all(
    resources.map(async (resource) => {
      const { stages, versions } = await precheckResource(resource, stage, state.plan.waits);
      if (versions) state.versionsRead(resource.resourceId, versions);
      state.record({ type: "ResourcePrechecked", resourceId: resource.resourceId, stages });
      tellPrechecks(resource, stages);
      const failed = stages.flatMap((stage) => stage.errors ?? []);
      if (stages.some((stage) => stage.status === "FAILED"))
        failures.push({ resource, error: precheckError(resource, failed) });
    }),
  );
  state.record({ type: "PrechecksEnded" });
  // An operator may have left it out while it was checked.
  const wanted = failures.filter(({ resource }) => !state.known.isSkipped(resource));
  const leavesOut = mayLeaveOut(state, wanted);
  if (leavesOut) for (const { resource, error } of wanted) leaveOut(state, resource, error);
  const errors = leavesOut ? [] : wanted.map(({ error }) => error);
  state.failedPrechecks = errors;
  return errors;
}

interface Failure {
  readonly resource: ResourcePlan;
  readonly error: ErrorBody;
}

/** Whether the rest of the upgrade goes on: the request asks for it, and a cluster is left. A server is needed by the rest. */
function mayLeaveOut({ plan, known }: UpgradeState, failures: readonly Failure[]): boolean {
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
  stage: WorkStage,
  waits: ActivityWaits,
): Promise<ClusterPrechecks> {
  try {
    return await retryWhileLost(waits, () => startPrechecks(resource, stage, waits));
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

function startPrechecks(resource: ResourcePlan, stage: WorkStage, waits: ActivityWaits): Promise<ClusterPrechecks> {
  const options = { ...precheckOptions(waits), summary: `${resource.name}: prechecks` };
  switch (resource.kind) {
    case "IMAGE":
    case "BASELINE":
      return prechecks.runClusterPrechecks.executeWithOptions(options, [{ ...clusterTarget(resource), stage }]);
    case "NETVIRT":
      return prechecks.runNetvirtPrechecks.executeWithOptions(options, [{ ...netvirtTarget(resource), stage }]);
    case "MGMT":
      return prechecks.runMgmtPrechecks.executeWithOptions(options, [{ ...mgmtTarget(resource), stage }]);
  }
}

function precheckError(resource: ResourcePlan, nestedErrors: ErrorBody[]): ErrorBody {
  // Checks that could not run for want of another one say nothing that the one does not.
  const found = nestedErrors.filter(({ errorCode }) => errorCode !== "PRECHECK_NOT_RUN");
  const told = found.length > 0 ? found : nestedErrors;
  return {
    errorCode: "PRECHECKS_FAILED",
    errorType: "PRECHECK",
    message: `${resourceTitle(resource)} cannot be upgraded: ${told.map((error) => error.message).join(" ")}`,
    remediationMessage: told[0]?.remediationMessage ?? "Fix what the failed checks name, then try again.",
    context: { resourceId: resource.resourceId },
    nestedErrors,
  };
}
