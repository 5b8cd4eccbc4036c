import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import type { HostResult } from "../../src/domain/host-remediation";
import type { ActivityLimits } from "../activity-dependencies";
import { activityPatience, cancelledFailure, endingPatience, runActivity, stopReason } from "../activity-run";
import type { RemediateHostInput } from "../contract";
import type { DriverError } from "../drivers/driver-error";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import { errorBodyOf, failureOf, stoppedFailure } from "../failures";
import { HostProgressTracker, knownProgress } from "./host-progress";
import { HostRemediationRun, NothingRuns } from "./host-remediation-run";
import { ReportedFailure, type ReportedCode } from "./reported-failure";

interface RemediateHostDependencies {
  clientOf(componentManagerId: string): VlcmClient;
  readonly limits: ActivityLimits;
}

/** After a cancellation these end the host's work safely; the other reported failures leave it in an open state. */
const safeEnds: ReadonlySet<ReportedCode> = new Set(["HOST_REMEDIATION_FAILED", "HOST_NOT_AT_TARGET"]);

/**
 * Upgrades one host. Goes on from what an earlier run has left, and counts what the component manager reports: such
 * a failure is retryable until the attempts are used up; any other one is final and uses up none.
 */
export function remediateHost(
  { clientOf, limits }: RemediateHostDependencies,
  input: RemediateHostInput,
): Promise<HostResult> {
  const activity = Context.current();
  const known = knownProgress(activity.info.heartbeatDetails, input.resume);
  const progress = new HostProgressTracker(input.host.host, known, activity.heartbeat);
  const mayHaveRequested = known !== undefined || activity.info.attempt > 1 || input.stop === true;
  const context = {
    cluster: input.cluster.name,
    host: input.host.fqdn,
    componentManager: input.cluster.componentManagerId,
  };
  const onTrouble = (error: DriverError) => progress.note(`Waiting: ${error.message}`);

  async function upgrade(client: VlcmClient): Promise<HostResult> {
    const patience = activityPatience(limits, onTrouble);
    const run = new HostRemediationRun({
      client,
      input,
      limits,
      progress,
      patience,
      mayHaveRequested,
      stopping: false,
    });
    try {
      return await run.toTheEnd();
    } catch (error) {
      if (!(error instanceof CancelledFailure) || stopReason() !== "STOP_REQUESTED") throw error;
      return await stop(client);
    }
  }

  /** Brings what runs to a safe end; gives a result only where the host was upgraded nevertheless. */
  async function stop(client: VlcmClient): Promise<HostResult> {
    const { remoteTask, requestedAt } = progress.current;
    if (!mayHaveRequested && remoteTask === undefined && requestedAt === undefined) throw stopped();
    progress.note("Cancelled: bringing the host to a safe end.");
    const patience = endingPatience(limits, onTrouble);
    const run = new HostRemediationRun({ client, input, limits, progress, patience, mayHaveRequested, stopping: true });
    try {
      return await run.toTheEnd();
    } catch (error) {
      if (error instanceof NothingRuns) throw stopped();
      if (!(error instanceof ReportedFailure) || !safeEnds.has(error.code)) throw error;
      progress.fail(errorBodyOf(error.error, context), false);
      throw stopped();
    }
  }

  /** Temporal takes a CancelledFailure only from an Activity that it has cancelled itself. */
  function stopped(): Error {
    return stopReason() ? cancelledFailure() : stoppedFailure(context, progress.current);
  }

  return runActivity(
    {
      context,
      upgradeId: input.upgradeId,
      heartbeat: () => progress.current,
      failure: () => ({ retryable: false, progress: progress.current }),
    },
    async () => {
      try {
        const client = clientOf(input.cluster.componentManagerId);
        return await (input.stop ? stop(client) : upgrade(client));
      } catch (error) {
        if (error instanceof CancelledFailure) throw error;
        if (!(error instanceof ReportedFailure)) {
          progress.fail(errorBodyOf(error, context), false);
          throw error;
        }
        progress.fail(errorBodyOf(error.error, context), true);
        const attemptsLeft = progress.current.reportedFailures < input.attempts.maximumAttempts;
        const retryable = attemptsLeft && !input.stop && stopReason() === undefined;
        throw failureOf(error.error, context, { retryable, progress: progress.current });
      }
    },
  );
}
