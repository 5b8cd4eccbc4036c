import type { Stage } from "../../src/domain/task";
import { isOutage, precheckRetryPolicy, runActivity, pacedRetry } from "../activity-run";
import type { ClusterPrechecks, ClusterTarget, AtStage } from "../contract";
import type { ActivityLimits } from "../activity-dependencies";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import { clusterHealth } from "./cluster-health";
import { clusterImageManaged } from "./cluster-image-managed";
import { componentManagerReachable } from "./component-manager-reachable";
import { hostsConnected } from "./hosts-connected";
import { noDowngrade } from "./no-downgrade";
import { noHostInMaintenance } from "./no-host-in-maintenance";
import { noOperationInProgress } from "./no-operation-in-progress";
import type { HostMaintenance } from "../hostos/host-maintenance";
import type { RetryPolicy } from "../retry-policy";
import type { AnyPrecheckInput, Precheck } from "./precheck";
import { runChecks } from "./run-checks";
import { targetImageAvailable } from "./target-image-available";

/** All checks of an image-managed cluster, in an order in which every one comes after those that it needs. */
const prechecks: readonly Precheck[] = [
  componentManagerReachable,
  clusterImageManaged,
  hostsConnected,
  noHostInMaintenance,
  noOperationInProgress,
  targetImageAvailable,
  noDowngrade,
  clusterHealth,
];

interface PrecheckDependencies {
  clientOf(componentManagerId: string): VlcmClient;
  maintenanceOf(componentManagerId: string): HostMaintenance;
  readonly limits: ActivityLimits;
}

/** Runs every check of an image-managed cluster. */
export function runImagePrechecks(
  { clientOf, maintenanceOf, limits }: PrecheckDependencies,
  target: ClusterTarget & AtStage,
): Promise<ClusterPrechecks> {
  const { componentManagerId } = target.cluster;
  const input = (retryPolicy: RetryPolicy) => ({
    target,
    client: clientOf(componentManagerId),
    maintenance: maintenanceOf(componentManagerId),
    retryPolicy,
  });
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
  }: {
    readonly target: ClusterTarget & AtStage;
    readonly limits: ActivityLimits;
    input(retryPolicy: RetryPolicy): I;
  },
): Promise<ClusterPrechecks> {
  const context = { cluster: target.cluster.name, componentManager: target.cluster.componentManagerId };
  const stages: Stage[] = [];
  return runActivity({ context, heartbeat: () => ({ stages: [...stages] }), failure: pacedRetry }, async (beat) => {
    const retryPolicy = precheckRetryPolicy(limits, target);
    const input = inputOf(retryPolicy);
    const onStage = (stage: Stage) => {
      stages.push(stage);
      beat();
    };
    await runChecks({ checks, input, context, onStage, isOutage: (error) => isOutage(retryPolicy, limits, error) });
    return { stages };
  });
}
