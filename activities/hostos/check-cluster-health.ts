import { activityRetryPolicy, runActivity } from "../activity-run";
import type { ActivityLimits } from "../activity-dependencies";
import type { ClusterTarget, HealthLook } from "../contract";
import { DriverError } from "../drivers/driver-error";
import { ClusterHealth, type ClusterHealthDependencies } from "./cluster-health";

/** How long a look waits for anything (milliseconds): a Workflow takes no Signal meanwhile. */
const longestWait = 1_000;

/** One look at a cluster's health. Whatever it cannot find out at once is left to {@link awaitClusterHealth}. */
export function checkClusterHealth(
  { limits, ...dependencies }: ClusterHealthDependencies & { readonly limits: Pick<ActivityLimits, "poll" | "clock"> },
  input: ClusterTarget,
): Promise<HealthLook> {
  const context = { cluster: input.cluster.name, componentManager: input.cluster.componentManagerId };
  return runActivity({ context, failure: () => ({ retryable: false }) }, async () => {
    const { poll, clock } = limits;
    const retryPolicy = activityRetryPolicy({ poll, clock, outage: longestWait, operationBusy: longestWait });
    const health = new ClusterHealth(dependencies, retryPolicy, input);
    let check: string | undefined;
    try {
      const look = await health.firstLook();
      if (!look.needsCheck) return { healthy: look.problems.length === 0 };
      check = await health.startCheck();
      return { healthy: (await health.checkProblems(look, check)).length === 0 };
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      return { healthy: false, ...(check !== undefined && { check }) };
    }
  });
}
