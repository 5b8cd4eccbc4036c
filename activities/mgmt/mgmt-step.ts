import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import type { ActivityLimits, ManagementServerSettings } from "../activity-dependencies";
import { activityRetryPolicy, cancelledFailure, endingRetryPolicy, runActivity, stopReason } from "../activity-run";
import type { DriverError } from "../drivers/driver-error";
import type { VcsaClient } from "../drivers/vcsa/vcsa-client";
import { errorBodyOf, failureOf, stoppedFailure } from "../failures";
import type { MgmtStepInput, MgmtTarget } from "../mgmt-contract";
import type { RetryPolicy } from "../retry-policy";
import { reportHeartbeats } from "../heartbeat-reporter";
import { MgmtFailure, NothingRuns } from "./mgmt-failure";
import { knownMgmtProgress, MgmtProgressTracker } from "./mgmt-progress-tracker";
import type { MgmtServerAccess } from "./mgmt-servers";

/** What every step works with. */
export interface MgmtStepContext<I extends MgmtStepInput = MgmtStepInput> {
  readonly client: VcsaClient;
  readonly settings: ManagementServerSettings;
  readonly input: I;
  readonly limits: ActivityLimits;
  readonly progress: MgmtProgressTracker;
  readonly retryPolicy: RetryPolicy;
  /** Whether an earlier run may have asked for a change, which this run cannot know for sure. */
  readonly mayHaveRequested: boolean;
  /** The upgrade was cancelled: end what runs, begin nothing, throw NothingRuns where nothing does. */
  readonly stopping: boolean;
}

export interface MgmtDependencies {
  serverOf(target: MgmtTarget): MgmtServerAccess;
  readonly limits: ActivityLimits;
}

/** What an error is about. */
export function mgmtContext({ server }: MgmtTarget): Record<string, string> {
  return { managementServer: server.name, componentManager: server.componentManagerId };
}

/**
 * Runs one step: goes on from what an earlier run has left, and counts what the management server reports. Such a
 * failure is retryable until the attempts are used up, unless it is beyond that; any other one is final and uses up
 * none. After a cancellation the step runs once more to bring what has begun to an end.
 */
export function runMgmtStep<I extends MgmtStepInput, R>(
  { serverOf, limits }: MgmtDependencies,
  input: I,
  work: (context: MgmtStepContext<I>) => Promise<R>,
): Promise<R> {
  const activity = Context.current();
  const known = knownMgmtProgress(activity.info.heartbeatDetails, input.resume);
  // As in `remediateHosts`; an attempt that follows a reported failure begins anew.
  const isGoingOn = known !== undefined && activity.info.attempt > 1 + known.reportedFailures;
  const mayHaveRequested = isGoingOn || input.resume !== undefined || input.stop === true;
  const context = mgmtContext(input);
  const beat = reportHeartbeats(activity, context);
  const progress = new MgmtProgressTracker(known, input.attempts.maximumAttempts, beat);
  const onTrouble = (error: DriverError) => progress.note(`Waiting: ${error.message}`);

  const run = (stopping: boolean): Promise<R> => {
    const { client, settings } = serverOf(input);
    const retryPolicy = stopping ? endingRetryPolicy(limits, onTrouble) : activityRetryPolicy(limits, onTrouble);
    return work({ client, settings, input, limits, progress, retryPolicy, mayHaveRequested, stopping });
  };

  /** Brings what runs to an end; gives a result only where the step came to a good end nevertheless. */
  async function stop(): Promise<R> {
    try {
      return await run(true);
    } catch (error) {
      if (error instanceof NothingRuns) throw stopped();
      // Nothing of the server has been changed: that is as good an end as any.
      if (error instanceof MgmtFailure && error.usesAttempt) throw stopped();
      throw error;
    }
  }

  /** Temporal takes a CancelledFailure only from an Activity that it has cancelled itself. */
  function stopped(): Error {
    return stopReason() ? cancelledFailure() : stoppedFailure(context, progress.current, "management server");
  }

  async function toTheEnd(): Promise<R> {
    if (input.stop) return stop();
    try {
      return await run(false);
    } catch (error) {
      if (!(error instanceof CancelledFailure) || stopReason() !== "STOP_REQUESTED") throw error;
      return stop();
    }
  }

  return runActivity(
    {
      context,
      heartbeat: () => progress.current,
      failure: () => ({ retryable: false, progress: progress.current }),
    },
    async () => {
      try {
        return await toTheEnd();
      } catch (error) {
        if (error instanceof CancelledFailure || isStopped(error)) throw error;
        if (!(error instanceof MgmtFailure)) {
          progress.fail(errorBodyOf(error, context), false);
          throw error;
        }
        progress.fail(errorBodyOf(error.error, context), error.usesAttempt);
        const attemptsLeft = progress.current.reportedFailures < input.attempts.maximumAttempts;
        const retryable = error.usesAttempt && attemptsLeft && !input.stop && stopReason() === undefined;
        throw failureOf(error.error, context, { retryable, progress: progress.current });
      }
    },
  );
}

/** The failure by which a step says that it was stopped is its answer, not a failure of the step. */
function isStopped(error: unknown): boolean {
  return (error as { type?: unknown } | null)?.type === "CANCELLED";
}
