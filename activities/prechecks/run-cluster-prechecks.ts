import { CancelledFailure } from "@temporalio/common";
import type { Stage } from "../../src/domain/task";
import { toTimestamp } from "../../src/domain/timestamp";
import type { ErrorBody } from "../../src/domain/error-body";
import { activityPatience, runActivity, shortBounds } from "../activity-run";
import type { ClusterPrechecks, ClusterTarget } from "../contract";
import type { ActivityLimits } from "../activity-dependencies";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import { errorBodyOf, type FailureContext } from "../failures";
import { clusterHealth } from "./cluster-health";
import { clusterImageManaged } from "./cluster-image-managed";
import { componentManagerReachable } from "./component-manager-reachable";
import { hostsConnected } from "./hosts-connected";
import { noDowngrade } from "./no-downgrade";
import { noOperationInProgress } from "./no-operation-in-progress";
import type { AnyPrecheckInput, Precheck, PrecheckType } from "./precheck";
import type { Patience } from "../patience";
import { targetImageAvailable } from "./target-image-available";

/** All checks of an image-managed cluster, in an order in which every one comes after those that it needs. */
const prechecks: readonly Precheck[] = [
  componentManagerReachable,
  clusterImageManaged,
  hostsConnected,
  noOperationInProgress,
  targetImageAvailable,
  noDowngrade,
  clusterHealth,
];

interface PrecheckDependencies {
  clientOf(componentManagerId: string): VlcmClient;
  readonly limits: ActivityLimits;
}

/** Runs every check of an image-managed cluster. */
export function runImagePrechecks(
  { clientOf, limits }: PrecheckDependencies,
  target: ClusterTarget,
): Promise<ClusterPrechecks> {
  const input = (patience: Patience) => ({ target, client: clientOf(target.cluster.componentManagerId), patience });
  return runClusterPrechecks(prechecks, { target, limits, input });
}

/**
 * Runs every check of a cluster, whatever the others find, and gives one Stage each. A check that throws is a failed
 * one; only the Activity's own end (cancelled, Worker stopped, component manager not in the inventory) throws.
 */
export function runClusterPrechecks<I extends AnyPrecheckInput>(
  checks: readonly Precheck<I>[],
  {
    target,
    limits,
    input: inputOf,
  }: { readonly target: ClusterTarget; readonly limits: ActivityLimits; input(patience: Patience): I },
): Promise<ClusterPrechecks> {
  const context = { cluster: target.cluster.name, componentManager: target.cluster.componentManagerId };
  const stages: Stage[] = [];
  return runActivity({ context, heartbeat: () => ({ stages: [...stages] }) }, async (beat) => {
    const input = inputOf(activityPatience(shortBounds(limits)));
    const failed = new Set<PrecheckType>();
    for (const check of checks) {
      const missing = check.needs.filter((type) => failed.has(type));
      const stage = await stageOf(check, context, () =>
        missing.length > 0 ? Promise.resolve([notRun(check, missing, context)]) : check.run(input),
      );
      if (stage.status === "FAILED") failed.add(check.type);
      stages.push(stage);
      beat();
    }
    return { stages };
  });
}

async function stageOf(
  { name, type, description }: Pick<Precheck, "name" | "type" | "description">,
  context: FailureContext,
  run: () => Promise<ErrorBody[]>,
): Promise<Stage> {
  const creationTimestamp = toTimestamp(Date.now());
  let errors: ErrorBody[];
  try {
    errors = await run();
  } catch (error) {
    if (error instanceof CancelledFailure) throw error;
    errors = [errorBodyOf(error, context)];
  }
  return {
    name,
    type,
    description,
    status: errors.length > 0 ? "FAILED" : "SUCCESSFUL",
    creationTimestamp,
    completionTimestamp: toTimestamp(Date.now()),
    ...(errors.length > 0 && { errors }),
  };
}

function notRun(
  { name }: Pick<Precheck, "name">,
  missing: readonly PrecheckType[],
  context: FailureContext,
): ErrorBody {
  return {
    errorCode: "PRECHECK_NOT_RUN",
    errorType: "FAILED_DEPENDENCY",
    message: `Not run: "${name}" needs ${missing.join(" and ")} to succeed first.`,
    remediationMessage: `Resolve the errors of ${missing.join(" and ")}, then run the prechecks again.`,
    context: { ...context },
  };
}
