import type { ActivityDependencies, ActivityLimits } from "../../activity-dependencies";
import type { ClusterPrechecks, ClusterTarget, AtStage } from "../../contract";
import type { Vim25Client } from "../../drivers/vim25/vim25-client";
import type { VlcmClient } from "../../drivers/vlcm/vlcm-client";
import type { RetryPolicy } from "../../retry-policy";
import { runClusterPrechecks } from "../run-cluster-prechecks";
import type { BaselinePrecheck } from "./baseline-precheck";
import { clusterBaselineManaged } from "./cluster-baseline-managed";
import { hostsCanBeEmptied } from "./hosts-can-be-emptied";
import { baselineHostsConnected, hostsHealthy, noHostInMaintenanceMode, noHostTask } from "./hosts-ready";
import { managementReachable } from "./management-reachable";
import { noHostDowngrade } from "./no-host-downgrade";
import { targetPatchAvailable } from "./target-patch-available";

/** All checks of a baseline-managed cluster, in an order in which every one comes after those that it needs. */
const prechecks: readonly BaselinePrecheck[] = [
  managementReachable,
  clusterBaselineManaged,
  baselineHostsConnected,
  noHostInMaintenanceMode,
  noHostTask,
  targetPatchAvailable,
  noHostDowngrade,
  hostsCanBeEmptied,
  hostsHealthy,
];

interface BaselinePrecheckDependencies {
  clientOf(componentManagerId: string): Vim25Client;
  lifecycleOf(componentManagerId: string): VlcmClient;
  readonly patchFor: ActivityDependencies["patchFor"];
  readonly limits: ActivityLimits;
}

/** Runs every check of a baseline-managed cluster. */
export function runBaselinePrechecks(
  { clientOf, lifecycleOf, patchFor, limits }: BaselinePrecheckDependencies,
  target: ClusterTarget & AtStage,
): Promise<ClusterPrechecks> {
  const { componentManagerId } = target.cluster;
  const input = (retryPolicy: RetryPolicy) => ({
    target,
    client: clientOf(componentManagerId),
    lifecycle: lifecycleOf(componentManagerId),
    patchFor,
    retryPolicy,
  });
  return runClusterPrechecks(prechecks, { target, limits, input });
}
