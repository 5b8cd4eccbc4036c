import { activityPatience, runActivity } from "../activity-run";
import type { ActivityLimits } from "../activity-dependencies";
import type { ClusterTarget, HealthLook } from "../contract";
import { DriverError } from "../drivers/driver-error";
import type { Patience, PatienceBounds } from "../patience";
import { ClusterHealth, type ClusterHealthDependencies } from "./cluster-health";
import { LeftToOthers } from "./left-to-others";

/** How long a look waits for anything (milliseconds): a Workflow takes no Signal meanwhile. */
const longestWait = 1_000;

/** One look at a cluster's health. Whatever it cannot find out at once is left to {@link awaitClusterHealth}. */
export function checkClusterHealth(
  { limits, ...dependencies }: ClusterHealthDependencies & { readonly limits: Pick<ActivityLimits, "poll"> },
  input: ClusterTarget,
): Promise<HealthLook> {
  const context = { cluster: input.cluster.name, componentManager: input.cluster.componentManagerId };
  return runActivity({ context, failure: () => ({ retryable: false }) }, () =>
    lookAtHealth(dependencies, activityPatience(momentBounds(limits)), input),
  );
}

/** Bounds of what waits for a moment at most. */
export function momentBounds({ poll }: Pick<ActivityLimits, "poll">): PatienceBounds {
  return { poll, outage: longestWait, operationBusy: longestWait };
}

/** The look itself, for as long as the patience lasts. Throws what interrupts that, unless it is {@link LeftToOthers}. */
export async function lookAtHealth(
  dependencies: ClusterHealthDependencies,
  patience: Patience,
  target: ClusterTarget,
): Promise<HealthLook> {
  const health = new ClusterHealth(dependencies, patience, target);
  let check: string | undefined;
  try {
    const look = await health.firstLook();
    if (!look.needsCheck) return { healthy: look.problems.length === 0 };
    check = await health.startCheck();
    return { healthy: (await health.checkProblems(look, check)).length === 0 };
  } catch (error) {
    if (!(error instanceof DriverError || error instanceof LeftToOthers)) throw error;
    return { healthy: false, ...(check !== undefined && { check }) };
  }
}
