import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import type { HostResult } from "../../src/domain/host-remediation";
import type { ActivityLimits } from "../activity-dependencies";
import { activityPatience, cancelledFailure, endingPatience, runActivity, stopReason } from "../activity-run";
import type { RemediateHostInput } from "../contract";
import type { DriverError } from "../drivers/driver-error";
import { errorBodyOf, failureOf, stoppedFailure } from "../failures";
import type { Patience } from "../patience";
import { toldHeartbeats } from "../told-progress";
import { HostProgressTracker, knownProgress } from "./host-progress";
import { NothingRuns } from "./nothing-runs";
import { ReportedFailure, type ReportedCode } from "./reported-failure";

/** What one try at a host is told. */
export interface HostRunOptions<S extends string> {
  readonly input: RemediateHostInput;
  readonly limits: ActivityLimits;
  readonly progress: HostProgressTracker<S>;
  readonly patience: Patience;
  /** Whether an earlier run may have asked for the remediation, which this run cannot know for sure. */
  readonly mayHaveRequested: boolean;
  /** The upgrade was cancelled: bring what runs to an end, start nothing. */
  readonly stopping: boolean;
}

/** How the hosts of one kind of cluster are upgraded. */
export interface HostWork<S extends string> {
  /** The stages of a host, by their types, in their order. */
  readonly stages: Readonly<Record<S, string>>;
  readonly limits: ActivityLimits;
  /**
   * One try at a host, from wherever it stands. Its end throws ReportedFailure, DriverError, the interruption of the
   * patience, or NothingRuns where it is stopping and the host was not upgraded.
   */
  run(options: HostRunOptions<S>): { toTheEnd(): Promise<HostResult> };
}

/** After a cancellation these end the host's work safely; the other reported failures leave it in an open state. */
const safeEnds: ReadonlySet<ReportedCode> = new Set(["HOST_REMEDIATION_FAILED", "HOST_NOT_AT_TARGET"]);

/**
 * Upgrades one host. Goes on from what an earlier run has left, and counts what the component manager reports: such
 * a failure is retryable until the attempts are used up; any other one is final and uses up none.
 */
export function remediateHost<S extends string>(
  { stages, limits, run }: HostWork<S>,
  input: RemediateHostInput,
): Promise<HostResult> {
  const activity = Context.current();
  const known = knownProgress(input.host.host, activity.info.heartbeatDetails, input.resume);
  const isFirstRun = activity.info.attempt === 1 && input.lost === undefined && !input.stop;
  const mayHaveRequested = known !== undefined || !isFirstRun;
  const context = {
    cluster: input.cluster.name,
    host: input.host.fqdn,
    componentManager: input.cluster.componentManagerId,
  };
  const progress = new HostProgressTracker(input.host.host, known, toldHeartbeats(activity, context), stages);
  const onTrouble = (error: DriverError) => progress.note(`Waiting: ${error.message}`);

  const common = { input, limits, progress, mayHaveRequested };

  async function upgrade(): Promise<HostResult> {
    const patience = activityPatience(limits, onTrouble);
    try {
      return await run({ ...common, patience, stopping: false }).toTheEnd();
    } catch (error) {
      if (!(error instanceof CancelledFailure) || stopReason() !== "STOP_REQUESTED") throw error;
      return await stop();
    }
  }

  /** Brings what runs to a safe end; gives a result only where the host was upgraded nevertheless. */
  async function stop(): Promise<HostResult> {
    const { remoteTask, requestedAt } = progress.current;
    if (!mayHaveRequested && remoteTask === undefined && requestedAt === undefined) throw stopped();
    progress.note("Cancelled: bringing the host to a safe end.");
    const patience = endingPatience(limits, onTrouble);
    try {
      return await run({ ...common, patience, stopping: true }).toTheEnd();
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
        return await (input.stop ? stop() : upgrade());
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
