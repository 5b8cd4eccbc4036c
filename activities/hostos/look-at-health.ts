import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import { cancelledFailure, stopReason } from "../activity-run";
import type { ActivityLimits } from "../activity-dependencies";
import type { ClusterTarget, HealthLook } from "../contract";
import { DriverError } from "../drivers/driver-error";
import { createRetryPolicy } from "../retry-policy";
import { ClusterHealth, type ClusterHealthDependencies } from "./cluster-health";

/** A look that takes longer finds nothing healthy (milliseconds): the upgrade may have been paused meanwhile. */
const longestLook = 5_000;

/** How long a component manager that is away or busy is waited for (milliseconds); the gate waits for longer. */
const longestOutage = 1_000;

class LookTooLongError extends Error {}

/** A short look at a cluster's health. Whatever it cannot find out at once is left to `awaitClusterHealth`. */
export async function lookAtHealth(
  { limits, ...dependencies }: ClusterHealthDependencies & { readonly limits: Pick<ActivityLimits, "poll" | "clock"> },
  input: ClusterTarget,
): Promise<HealthLook> {
  const { poll, clock } = limits;
  const began = clock.now();
  const interruption = () => {
    if (stopReason()) return cancelledFailure();
    return clock.now() - began > longestLook ? new LookTooLongError() : undefined;
  };
  const retryPolicy = createRetryPolicy(
    { poll, clock, outage: longestOutage, operationBusy: longestLook },
    { stage: "IN_WORK", signal: Context.current().cancellationSignal, interruption },
  );
  const health = new ClusterHealth(dependencies, retryPolicy, input);
  let check: string | undefined;
  try {
    const look = await health.firstLook();
    if (!look.needsCheck) return { healthy: look.problems.length === 0 && !interruption() };
    check = await health.startCheck();
    return { healthy: (await health.checkProblems(look, check)).length === 0 && !interruption() };
  } catch (error) {
    // Nothing has been begun: where the upgrade is cancelled, nothing is left to be brought to an end either.
    if (error instanceof CancelledFailure && stopReason() !== "STOP_REQUESTED") throw error;
    if (!(error instanceof DriverError || error instanceof CancelledFailure || error instanceof LookTooLongError))
      Context.current().log.error("The look at a cluster's health failed", { cluster: input.cluster.name, error });
    return { healthy: false, ...(check !== undefined && { check }) };
  }
}
