import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import type { ActivityLimits } from "../activity-dependencies";
import { activityPatience } from "../activity-run";
import type { ClusterWork } from "../cluster-work";
import type { ClusterTarget, PolicyChange, PreparedCluster, SetDesiredImageInput } from "../contract";
import { DriverError } from "../drivers/driver-error";
import type { Patience } from "../patience";
import { lookAtHealth, momentBounds } from "./check-cluster-health";
import type { ClusterHealthDependencies } from "./cluster-health";

/** Waits for nothing to pass. */
const oneTry = { outage: 0, operationBusy: 0 };

interface PrepareClusterDependencies extends ClusterHealthDependencies {
  readonly work: Pick<ClusterWork, "putPolicy" | "setDesiredImage">;
  readonly limits: Pick<ActivityLimits, "poll">;
}

/**
 * Sets a cluster's desired image; before it the policy and after it a look at its health, where these are asked for. A policy
 * that is not taken at once is left to the Activity that waits for it, with all that follows. Throws what setting the image
 * throws, so that attempts are counted as ever.
 */
export async function prepareCluster(
  dependencies: PrepareClusterDependencies,
  patience: Patience,
  { policy, healthGate = false, ...target }: SetDesiredImageInput,
): Promise<PreparedCluster> {
  const { work } = dependencies;
  // Later attempts are at the image. What the first has done of the policy, on whatever worker, they do not know.
  const change = Context.current().info.attempt === 1 ? policy : undefined;
  if (change && !(await isPut(dependencies, { ...target, ...change }))) return { changed: false, policy: "LEFT" };
  const image = await work.setDesiredImage(patience, target);
  return {
    ...image,
    ...(change && { policy: "PUT" }),
    ...(healthGate && (await lookAfterwards(dependencies, target))),
  };
}

/** Nothing where it goes wrong: the image is set, and the look can be made again. */
async function lookAfterwards(
  dependencies: PrepareClusterDependencies,
  target: ClusterTarget,
): Promise<Pick<PreparedCluster, "look">> {
  try {
    return { look: await lookAtHealth(dependencies, activityPatience(momentBounds(dependencies.limits)), target) };
  } catch (error) {
    if (error instanceof CancelledFailure) throw error;
    return {};
  }
}

async function isPut(dependencies: PrepareClusterDependencies, input: ClusterTarget & PolicyChange): Promise<boolean> {
  try {
    await dependencies.work.putPolicy(activityPatience({ poll: dependencies.limits.poll, ...oneTry }), input);
    return true;
  } catch (error) {
    if (error instanceof DriverError) return false;
    throw error;
  }
}
