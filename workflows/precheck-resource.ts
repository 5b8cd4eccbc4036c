import { CancellationScope, isCancellation, proxyActivities } from "@temporalio/workflow";
import type { ResourcePrechecks, UpgradeActivities, WorkStage } from "../activities/contract";
import { type ClusterUpgradePlan, type ResourcePlan, rolloutOf, switchesVmsOff } from "../src/domain/plan/upgrade-plan";
import type { Stage } from "../src/domain/spec/task";
import { type AcknowledgedFinding, findingKey } from "../src/domain/task/findings";
import { stagesOf } from "../src/domain/task/resource-stages";
import type { ActivityWaits } from "../src/domain/time-limits";
import { clusterTarget, mgmtTarget, netvirtTarget, precheckOptions } from "./activity-options";
import { now } from "./clock";
import { errorOf } from "./failures";
import { retryWhileLost } from "./lost-activities";

const prechecks =
  proxyActivities<Pick<UpgradeActivities, "runClusterPrechecks" | "runNetvirtPrechecks" | "runMgmtPrechecks">>(
    precheckOptions(),
  );

/** Runs the prechecks of one resource. Those that could not be run have failed, so that they appear on the Task like any other. */
export async function precheckResource(
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
      return prechecks.runClusterPrechecks.executeWithOptions(options, [
        { ...clusterTarget(resource), ...how, ...roomNeeded(resource) },
      ]);
    case "NETVIRT":
      return prechecks.runNetvirtPrechecks.executeWithOptions(options, [{ ...netvirtTarget(resource), ...how }]);
    case "MGMT":
      return prechecks.runMgmtPrechecks.executeWithOptions(options, [{ ...mgmtTarget(resource), ...how }]);
  }
}

/** How many hosts have to be empty at the same time. */
function roomNeeded(cluster: ClusterUpgradePlan): { readonly hostsAtOnce?: number } {
  return switchesVmsOff(cluster) ? {} : { hostsAtOnce: rolloutOf(cluster).hostsAtOnce };
}
