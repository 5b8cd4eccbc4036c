import { CancellationScope, isCancellation, proxyActivities } from "@temporalio/workflow";
import type { UpgradeActivities } from "../activities/contract";
import type { ErrorBody } from "../src/domain/error-body";
import { stagesOf } from "../src/domain/cluster-progress";
import type { Stage } from "../src/domain/task";
import { toTimestamp } from "../src/domain/timestamp";
import type { ClusterUpgradePlan } from "../src/domain/upgrade-plan";
import { errorOf } from "./activity-failure";
import { precheckOptions } from "./retry-policy";
import { untilAnswered } from "./until-answered";
import type { UpgradeState } from "./upgrade-state";

const prechecks = proxyActivities<Pick<UpgradeActivities, "runClusterPrechecks">>(precheckOptions);

/**
 * Runs the prechecks of all the clusters at the same time, to the last one even if one fails. Gives the errors, one
 * per cluster that cannot be upgraded; none where every check has passed.
 */
export async function runPrechecks(state: UpgradeState, clusters: readonly ClusterUpgradePlan[]): Promise<ErrorBody[]> {
  state.record({ type: "PrechecksStarted", clusters });
  const errors: ErrorBody[] = [];
  await Promise.all(
    clusters.map(async (cluster) => {
      const stages = await precheckCluster(cluster);
      state.record({ type: "ClusterPrechecked", resourceId: cluster.resourceId, stages });
      const failed = stages.flatMap((stage) => stage.errors ?? []);
      if (stages.some((stage) => stage.status === "FAILED")) errors.push(precheckError(cluster, failed));
    }),
  );
  state.record({ type: "PrechecksEnded" });
  state.failedPrechecks = errors;
  return errors;
}

/** Checks that could not be run are failed checks, so that they appear on the Task like any other. */
async function precheckCluster({
  resourceId,
  name,
  componentManagerId,
  cluster,
  ...plan
}: ClusterUpgradePlan): Promise<Stage[]> {
  const target = {
    cluster: { resourceId, name, componentManagerId, cluster },
    kind: plan.kind,
    targetVersion: plan.targetVersion,
    ...(plan.image && { image: plan.image }),
  };
  try {
    const { stages } = await untilAnswered(() =>
      prechecks.runClusterPrechecks.executeWithOptions({ ...precheckOptions, summary: `${name}: prechecks` }, [target]),
    );
    return stages;
  } catch (failure) {
    if (isCancellation(failure) || CancellationScope.current().consideredCancelled) throw failure;
    const at = toTimestamp(Date.now());
    return stagesOf({ RUN_PRECHECKS: "Run prechecks" }, at).map((stage) => ({
      ...stage,
      status: "FAILED",
      completionTimestamp: at,
      errors: [errorOf(failure)],
    }));
  }
}

function precheckError({ resourceId, name }: ClusterUpgradePlan, nestedErrors: ErrorBody[]): ErrorBody {
  return {
    errorCode: "PRECHECKS_FAILED",
    errorType: "PRECHECK",
    message: `Cluster ${name} cannot be upgraded: ${nestedErrors.map((error) => error.message).join(" ")}`,
    remediationMessage: nestedErrors[0]?.remediationMessage ?? "Mend what the failed checks name, then try again.",
    context: { resourceId },
    nestedErrors,
  };
}
