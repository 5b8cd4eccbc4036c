import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import { netvirtComponentNames, type NetvirtComponentResult } from "../../src/domain/task/netvirt-upgrade";
import type { ActivityLimits } from "../activity-limits";
import {
  activityRetryPolicy,
  CancelledBeforeStart,
  cancelledFailure,
  endingRetryPolicy,
  runActivity,
  stopReason,
} from "../activity-run";
import type { UpgradeNetvirtComponentInput } from "../contract";
import type { DriverError } from "../drivers/driver-error";
import type { NsxClient } from "../drivers/nsx/nsx-client";
import { errorBodyOf, failureOf, stoppedFailure } from "../failures";
import { beginUnder, type Closures, whyClosed } from "../closure-check";
import { reportHeartbeats } from "../heartbeat-reporter";
import { ComponentUpgradeRun, NetvirtFailure } from "./component-upgrade-run";
import { ComponentProgressTracker, knownProgress } from "./component-view";

interface UpgradeNetvirtDependencies {
  clientOf(componentManagerId: string): NsxClient;
  readonly closures: Closures;
  readonly limits: ActivityLimits;
}

/**
 * Upgrades one component. Goes on from what an earlier run has left, and counts what the coordinator reports: such a
 * failure is retryable until the attempts are used up; any other one is final and uses up none.
 */
export function upgradeNetvirtComponent(
  { clientOf, closures, limits }: UpgradeNetvirtDependencies,
  input: UpgradeNetvirtComponentInput,
): Promise<NetvirtComponentResult> {
  const activity = Context.current();
  const { attempts, component, netvirt } = input;
  const known = knownProgress(activity.info.heartbeatDetails, input.resume);
  const context = {
    netvirt: netvirt.name,
    component: netvirtComponentNames[component],
    componentManager: netvirt.componentManagerId,
  };
  const beat = reportHeartbeats(activity, context);
  const progress = new ComponentProgressTracker(component, known, attempts.maximumAttempts, beat);
  const freezes = {
    begin: beginUnder(closures, input.places),
    whyClosed: () => whyClosed(closures, input.places),
  };
  const onTrouble = (error: DriverError) => progress.note(`Waiting: ${error.message}`);

  async function upgrade(client: NsxClient): Promise<NetvirtComponentResult> {
    const retryPolicy = activityRetryPolicy(limits, onTrouble);
    try {
      return await new ComponentUpgradeRun({
        client,
        input,
        limits,
        progress,
        retryPolicy,
        ...freezes,
        stopping: false,
      }).toTheEnd();
    } catch (error) {
      if (!(error instanceof CancelledFailure) || stopReason() !== "STOP_REQUESTED") throw error;
      return await stop(client);
    }
  }

  /** Pauses what runs; gives a result only where the component was upgraded nevertheless. */
  async function stop(client: NsxClient): Promise<NetvirtComponentResult> {
    progress.note("Cancelled: pausing the upgrade.");
    const retryPolicy = endingRetryPolicy(limits, onTrouble);
    try {
      const run = new ComponentUpgradeRun({ client, input, limits, progress, retryPolicy, ...freezes, stopping: true });
      return await run.toTheEnd();
    } catch (error) {
      if (!(error instanceof CancelledBeforeStart)) throw error;
      // Temporal takes a CancelledFailure only from an Activity that it has cancelled itself.
      throw stopReason() ? cancelledFailure() : stoppedFailure(context, told());
    }
  }

  /** What a failure tells of the progress: the nodes are read again by whoever wants them. */
  const told = () => ({ ...progress.current, nodes: [] });

  return runActivity(
    {
      context,
      heartbeat: () => progress.current,
      failure: () => ({ retryable: false, progress: told() }),
    },
    async () => {
      try {
        const client = clientOf(netvirt.componentManagerId);
        return await (input.stop ? stop(client) : upgrade(client));
      } catch (error) {
        if (error instanceof CancelledFailure) throw error;
        if (!(error instanceof NetvirtFailure)) {
          progress.fail(errorBodyOf(error, context), false);
          throw error;
        }
        progress.fail(errorBodyOf(error.error, context), true);
        const attemptsLeft = progress.current.reportedFailures < attempts.maximumAttempts;
        const retryable = attemptsLeft && !input.stop && stopReason() === undefined;
        throw failureOf(error.error, context, { retryable, progress: told() });
      }
    },
  );
}
