import { CancellationScope, isCancellation, proxyActivities } from "@temporalio/workflow";
import type { ClusterPrechecks, UpgradeActivities, WorkStage } from "../../activities/contract";
import type { ErrorBody } from "../../src/domain/errors";
import type { ResourcePlan } from "../../src/domain/plan/upgrade-plan";
import type { Stage } from "../../src/domain/spec/task";
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
 * per resource that cannot be upgraded; none where every check has passed.
 */
export async function runPrechecks(
  state: UpgradeState,
  resources: readonly ResourcePlan[],
  stage: WorkStage = "FIRST_CONTACT",
): Promise<ErrorBody[]> {
  state.failedPrechecks = [];
  state.record({ type: "PrechecksStarted", resources });
  const errors: ErrorBody[] = [];
  await Promise.all(
    resources.map(async (resource) => {
      const { stages, versions } = await precheckResource(resource, stage, state.plan.waits);
      if (versions) state.versionsRead(resource.resourceId, versions);
      state.record({ type: "ResourcePrechecked", resourceId: resource.resourceId, stages });
      tellPrechecks(resource, stages);
      const failed = stages.flatMap((stage) => stage.errors ?? []);
      if (stages.some((stage) => stage.status === "FAILED")) errors.push(precheckError(resource, failed));
    }),
  );
  state.record({ type: "PrechecksEnded" });
  state.failedPrechecks = errors;
  return errors;
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
