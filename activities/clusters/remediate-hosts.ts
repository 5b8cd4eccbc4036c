import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import type { ErrorBody } from "../../src/domain/errors";
import type { RemediationResult } from "../../src/domain/task/host-remediation";
import type { ActivityLimits } from "../activity-limits";
import { activityRetryPolicy, cancelledFailure, endingRetryPolicy, runActivity, stopReason } from "../activity-run";
import type { HealthLook, RemediateHostsInput } from "../contract";
import type { DriverError } from "../drivers/driver-error";
import { hostsFailure, stoppedFailure } from "../failures";
import type { Begin } from "../closure-check";
import { reportHeartbeats } from "../heartbeat-reporter";
import type { RetryPolicy } from "../retry-policy";
import { knownProgress, RemediationTracker } from "./remediation-tracker";

/** What every step of one attempt at hosts works with. */
export interface RemediationContext {
  readonly input: RemediateHostsInput;
  readonly limits: ActivityLimits;
  readonly progress: RemediationTracker;
  readonly retryPolicy: RetryPolicy;
  readonly begin: Begin;
  /** Whether an earlier run may have asked for a remediation, which this run cannot know for sure. */
  readonly mayHaveRequested: boolean;
  /** The upgrade was cancelled: bring what runs to an end, start nothing. */
  readonly stopping: boolean;
}

/** After a cancellation these failures leave a host alone in a safe state; others leave it in an open one. */
const safeEnds: ReadonlySet<string | undefined> = new Set([
  "HOST_REMEDIATION_FAILED",
  "HOST_NOT_AT_TARGET",
  "HOST_IN_MAINTENANCE_MODE",
]);

/** What upgrading hosts takes, of their kind of cluster. */
export interface Remediation {
  readonly begin: Begin;
  /** Why hosts are held, by their ids. Throws ClosureError where that cannot be read. */
  findHeld(hosts: readonly string[]): Promise<ReadonlyMap<string, ErrorBody>>;
  /** A short look at the cluster's health, for {@link RemediateHostsInput.gate}. */
  lookAtHealth(): Promise<HealthLook>;
  /**
   * One attempt, from wherever it stands, until the progress says how every host has ended. Throws DriverError, where
   * something else than a host is wrong, or the interruption of the retryPolicy.
   */
  attempt(context: RemediationContext): Promise<void>;
}

/**
 * Upgrades one host or several. Goes on from what an earlier run has left. Where hosts have failed and attempts are
 * left for them, it throws a retryable failure and the next attempt is about those hosts only; any other failure is
 * final and uses up none.
 */
export function remediateHosts(
  limits: ActivityLimits,
  input: RemediateHostsInput,
  { begin, findHeld, lookAtHealth, attempt }: Remediation,
): Promise<RemediationResult> {
  const activity = Context.current();
  const { cluster, hosts } = input;
  const known = knownProgress(activity.info.heartbeatDetails, input.resume);
  // Every change is preceded by a recorded heartbeat (docs/decisions/0037). But Temporal does not tell the Workflow what was
  // recorded of an Activity that was cancelled between two attempts.
  const knowsAll = known !== undefined || !input.stop;
  const mayHaveRequested = known !== undefined || input.stop === true;
  const alone = hosts.length === 1 ? hosts[0] : undefined;
  const context = {
    cluster: cluster.name,
    ...(alone && { host: alone.fqdn }),
    componentManager: cluster.componentManagerId,
  };
  const progress = new RemediationTracker(input, known, reportHeartbeats(activity, context), limits.clock);
  const onTrouble = (error: DriverError) => progress.note(`Waiting: ${error.message}`);
  const common = { input, limits, progress, begin, mayHaveRequested };

  async function upgrade(): Promise<RemediationResult> {
    try {
      await leaveHeldOut();
      if (progress.hasEnded) return end();
      if (input.gate && !progress.hasPassedGate) {
        const { healthy, check } = await lookAtHealth();
        if (!healthy)
          return { upgraded: [], failed: [], stopped: [], gateClosed: { ...(check !== undefined && { check }) } };
        progress.passGate();
      }
      await attempt({ ...common, retryPolicy: activityRetryPolicy(limits, onTrouble), stopping: false });
    } catch (error) {
      if (!(error instanceof CancelledFailure) || stopReason() !== "STOP_REQUESTED") throw error;
      return await stop();
    }
    return end();
  }

  /** A host that is held is not even waited for; who holds it may well have taken it out of service. */
  async function leaveHeldOut(): Promise<void> {
    const waiting = progress.inPhase("WAITING").flatMap((place) => hosts[place]?.host ?? []);
    if (waiting.length > 0) progress.leaveOut(await findHeld(waiting));
  }

  /** Brings what runs to a safe end; gives a result only where something has become of a host. */
  async function stop(): Promise<RemediationResult> {
    if (knowsAll && progress.isUntouched && !progress.hasFailures) throw stopped();
    progress.note(`Cancelled: finishing the ${alone ? "host" : "hosts"} safely.`);
    await attempt({ ...common, retryPolicy: endingRetryPolicy(limits, onTrouble), stopping: true });
    const { upgraded, failed } = progress.result();
    const isSafe =
      progress.leftBehind === undefined &&
      failed.every(({ error }) => alone !== undefined && safeEnds.has(error.errorCode));
    if (upgraded.length === 0 && isSafe) throw stopped();
    return end();
  }

  /** How the attempt ends: the one place that decides whether there is another. */
  function end(): RemediationResult {
    progress.endAttempt();
    const isLast = input.stop === true || stopReason() !== undefined;
    const again = isLast ? [] : progress.inPhase("FAILED_ONCE");
    const [first = 0] = again;
    if (again.length > 0)
      throw hostsFailure(progress.errorOf(first), again.length, { retryable: true, progress: progress.current });
    const result = progress.result();
    if (alone && result.failed.length > 0)
      throw hostsFailure(progress.errorOf(0), 1, { retryable: false, progress: progress.current });
    return result;
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
    () => (input.stop ? stop() : upgrade()),
  );
}
