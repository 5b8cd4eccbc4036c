import type { Stage } from "../../../src/domain/task";
import type { ActivityLimits } from "../../activity-dependencies";
import { isOutage, precheckRetryPolicy, runActivity, timeOfRun, pacedRetry } from "../../activity-run";
import type { NetvirtTarget, AtStage } from "../../contract";
import type { NsxClient } from "../../drivers/nsx/nsx-client";
import { runChecks } from "../../prechecks/run-checks";
import { componentsReady } from "./components-ready";
import { coordinatorChecks } from "./coordinator-checks";
import { groupsKnown } from "./groups-known";
import { managerReachable } from "./manager-reachable";
import type { NetvirtPrecheck } from "./netvirt-precheck";
import { nodesInService } from "./nodes-in-service";
import { targetOffered } from "./target-offered";

/** All checks, in an order in which every one comes after those that it needs. */
const prechecks: readonly NetvirtPrecheck[] = [
  managerReachable,
  targetOffered,
  componentsReady,
  groupsKnown,
  nodesInService,
  coordinatorChecks,
];

/** The rest of a run's time is for reading what the coordinator's checks have found, and for telling it. */
const shareOfChecks = 0.75;

interface PrecheckDependencies {
  clientOf(componentManagerId: string): NsxClient;
  readonly limits: ActivityLimits;
}

/** Runs every check of an instance and gives one Stage each; see `runClusterPrechecks`. */
export function runNetvirtPrechecks(
  { clientOf, limits }: PrecheckDependencies,
  target: NetvirtTarget & AtStage,
): Promise<{ stages: Stage[] }> {
  const { name, componentManagerId } = target.netvirt;
  const context = { netvirt: name, componentManager: componentManagerId };
  const stages: Stage[] = [];
  return runActivity({ context, heartbeat: () => ({ stages: [...stages] }), failure: pacedRetry }, async (beat) => {
    const client = clientOf(componentManagerId);
    const retryPolicy = precheckRetryPolicy(limits, target);
    const deadline = retryPolicy.clock.now() + shareOfChecks * timeOfRun();
    const input = { target, client, limits, deadline, retryPolicy };
    const onStage = (stage: Stage) => {
      stages.push(stage);
      beat();
    };
    await runChecks({
      checks: prechecks,
      input,
      context,
      onStage,
      isOutage: (error) => isOutage(retryPolicy, limits, error),
    });
    return { stages };
  });
}
