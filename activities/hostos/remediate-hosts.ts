import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import type { HostsResult } from "../../src/domain/hosts-remediation";
import type { ActivityLimits } from "../activity-dependencies";
import {
  activityPatience,
  cancelledFailure,
  endingPatience,
  runActivity,
  shortBounds,
  stopReason,
} from "../activity-run";
import type { RemediateHostsInput } from "../contract";
import { DriverError } from "../drivers/driver-error";
import type { Vim25Client } from "../drivers/vim25/vim25-client";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import { hostsFailedFailure, stoppedFailure } from "../failures";
import { toldHeartbeats } from "../told-progress";
import type { HostMaintenance } from "./host-maintenance";
import { givenUp } from "./hosts-maintenance";
import { HostsProgressTracker, knownHostsProgress } from "./hosts-progress";
import { HostsRemediationRun } from "./hosts-remediation-run";

interface RemediateHostsDependencies {
  clientOf(componentManagerId: string): VlcmClient;
  managementOf(componentManagerId: string): Vim25Client;
  maintenanceOf(componentManagerId: string): HostMaintenance;
  readonly limits: ActivityLimits;
}

/**
 * Upgrades several hosts together. Goes on from what an earlier run has left. Where hosts have failed and attempts
 * are left for them, it throws a retryable failure and the next attempt is about those hosts only.
 */
export function remediateHosts(
  { clientOf, managementOf, maintenanceOf, limits }: RemediateHostsDependencies,
  input: RemediateHostsInput,
): Promise<HostsResult> {
  const activity = Context.current();
  const known = knownHostsProgress(activity.info.heartbeatDetails, input.resume);
  const isFirstRun = activity.info.attempt === 1 && input.lost === undefined && !input.stop;
  const mayHaveRequested = known !== undefined || !isFirstRun;
  const { cluster } = input;
  const context = { cluster: cluster.name, componentManager: cluster.componentManagerId };
  const progress = new HostsProgressTracker(input, known, toldHeartbeats(activity, context));
  const onTrouble = (error: DriverError) => progress.note(`Waiting: ${error.message}`);

  async function upgrade(): Promise<HostsResult> {
    const common = contextOf();
    try {
      const patience = activityPatience(limits, onTrouble);
      await new HostsRemediationRun({ ...common, patience, mayHaveRequested, stopping: false }).toTheEnd();
    } catch (error) {
      if (error instanceof DriverError)
        throw await givenUp({ ...common, patience: endingPatience(shortBounds(limits), onTrouble) }, error);
      if (!(error instanceof CancelledFailure) || stopReason() !== "STOP_REQUESTED") throw error;
      return await stop();
    }
    const again = progress.inPhase("FAILED_ONCE");
    const [first] = again;
    if (first === undefined || stopReason() !== undefined) return progress.result(input.targetVersion);
    throw hostsFailedFailure(progress.errorOf(first), again.length, progress.current);
  }

  /** Brings what runs to a safe end; gives a result where anything has become of any host. */
  async function stop(): Promise<HostsResult> {
    progress.note("Cancelled: bringing the hosts to a safe end.");
    const patience = endingPatience(limits, onTrouble);
    const common = { ...contextOf(), patience };
    try {
      await new HostsRemediationRun({ ...common, mayHaveRequested, stopping: true }).toTheEnd();
    } catch (error) {
      throw error instanceof DriverError ? await givenUp(common, error) : error;
    }
    const result = progress.result(input.targetVersion);
    if (result.upgraded.length + result.failed.length > 0) return result;
    // Temporal takes a CancelledFailure only from an Activity that it has cancelled itself.
    throw stopReason() ? cancelledFailure() : stoppedFailure(context, progress.current);
  }

  function contextOf() {
    const managerId = cluster.componentManagerId;
    const management = managementOf(managerId);
    return { client: clientOf(managerId), management, maintenance: maintenanceOf(managerId), input, limits, progress };
  }

  return runActivity(
    {
      context,
      heartbeat: () => progress.current,
      failure: () => ({ retryable: false, progress: progress.current }),
    },
    () => (input.stop ? stop() : upgrade()),
  );
}
