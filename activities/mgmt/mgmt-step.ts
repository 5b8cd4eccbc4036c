import { Context } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import { isRight } from "fp-ts/Either";
import type { ErrorBody } from "../../src/domain/errors";
import { MgmtProgress } from "../../src/domain/task/mgmt-progress";
import { toTimestamp } from "../../src/domain/timestamp";
import type { ActivityDependencies, ManagementServerSettings } from "../activity-dependencies";
import type { ActivityLimits } from "../activity-limits";
import {
  activityRetryPolicy,
  CancelledBeforeStart,
  cancelledFailure,
  endingRetryPolicy,
  runActivity,
  stopReason,
} from "../activity-run";
import { unobserved } from "../drivers/call-observation";
import { bounded, type DriverError } from "../drivers/driver-error";
import { createVcsaClient, type VcsaClient } from "../drivers/vcsa/vcsa-client";
import { errorBodyOf, failureOf, stoppedFailure } from "../failures";
import { type Begin, beginUnder, type Closures } from "../closure-check";
import { reportHeartbeats } from "../heartbeat-reporter";
import { managerClients } from "../manager-clients";
import type { MgmtStepInput, MgmtTarget } from "../mgmt-contract";
import type { RetryPolicy } from "../retry-policy";
import { MgmtFailure } from "./mgmt-failure";

/** What every step works with. */
export interface MgmtStepContext<I extends MgmtStepInput = MgmtStepInput> {
  readonly client: VcsaClient;
  readonly settings: ManagementServerSettings;
  readonly input: I;
  readonly limits: ActivityLimits;
  readonly progress: MgmtProgressTracker;
  readonly retryPolicy: RetryPolicy;
  readonly begin: Begin;
  /** Whether an earlier run may have asked for a change, which this run cannot know for sure. */
  readonly mayHaveRequested: boolean;
  /** The upgrade was cancelled: end what runs, begin nothing, throw CancelledBeforeStart where nothing does. */
  readonly stopping: boolean;
}

export interface MgmtDependencies {
  serverOf(target: MgmtTarget): MgmtServerAccess;
  readonly closures: Closures;
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
  { serverOf, closures, limits }: MgmtDependencies,
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
  const begin = beginUnder(closures, input.places);
  const onTrouble = (error: DriverError) => progress.note(`Waiting: ${error.message}`);

  const run = (stopping: boolean): Promise<R> => {
    const { client, settings } = serverOf(input);
    const retryPolicy = stopping ? endingRetryPolicy(limits, onTrouble) : activityRetryPolicy(limits, onTrouble);
    return work({ client, settings, input, limits, progress, retryPolicy, begin, mayHaveRequested, stopping });
  };

  /** Brings what runs to an end; gives a result only where the step came to a good end nevertheless. */
  async function stop(): Promise<R> {
    try {
      return await run(true);
    } catch (error) {
      if (error instanceof CancelledBeforeStart) throw stopped();
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

/**
 * What earlier runs have left: the heartbeat details of this Activity or what the Workflow was told of a lost one,
 * whichever knows of more failures. Undefined where this is the first run.
 */
function knownMgmtProgress(details: unknown, resume: MgmtProgress | undefined): MgmtProgress | undefined {
  const decoded = MgmtProgress.decode(details);
  const own = isRight(decoded) ? decoded.right : undefined;
  if (!own || !resume) return own ?? resume;
  return resume.reportedFailures > own.reportedFailures ? resume : own;
}

/** The request for a change as far as it is known; empty where none was made. */
type Requested = Pick<MgmtProgress, "requestedAt" | "accepted">;

/** The progress of a step while its Activity runs; every change is told at once. */
class MgmtProgressTracker {
  #progress: MgmtProgress;
  readonly #beat: (progress: MgmtProgress) => void;

  constructor(known: MgmtProgress | undefined, maximumAttempts: number, beat: (progress: MgmtProgress) => void) {
    this.#beat = beat;
    this.#progress = known ?? { reportedFailures: 0, activity: "Starting.", maximumAttempts };
  }

  get current(): MgmtProgress {
    return this.#progress;
  }

  /** Tells the operator what goes on, and how far it is where that is known. */
  note(activity: string, percent?: number): void {
    const { percent: _, ...rest } = this.#progress;
    this.#change({ ...rest, activity: bounded(activity, 300), ...(percent !== undefined && { percent }) });
  }

  /** Before a change is asked for: whatever becomes of the request, the next run knows that there was one. */
  intend(requestedAt: number): void {
    const { accepted: _, ...rest } = this.#progress;
    this.#change({ ...rest, requestedAt: toTimestamp(requestedAt) });
  }

  /** The request was accepted. */
  accept(): void {
    this.#change({ ...this.#progress, accepted: true });
  }

  /** The request was refused: what was known before it holds again. */
  retract({ requestedAt, accepted }: Requested): void {
    const { requestedAt: _, accepted: __, ...rest } = this.#progress;
    this.#change({
      ...rest,
      ...(requestedAt !== undefined && { requestedAt }),
      ...(accepted !== undefined && { accepted }),
    });
  }

  /** The attempt has failed. `counted` where it uses up an attempt, so that the next one begins anew. */
  fail(error: ErrorBody, counted: boolean): void {
    const { percent: _, requestedAt, accepted, ...rest } = this.#progress;
    this.#change({
      ...rest,
      ...(!counted && requestedAt !== undefined && { requestedAt }),
      ...(!counted && accepted !== undefined && { accepted }),
      reportedFailures: rest.reportedFailures + (counted ? 1 : 0),
      activity: bounded(error.message, 300),
      lastError: error,
    });
  }

  #change(progress: MgmtProgress): void {
    this.#progress = progress;
    this.#beat(progress);
  }
}

/** A management server as Activities work on it. */
interface MgmtServerAccess {
  readonly client: VcsaClient;
  readonly settings: ManagementServerSettings;
}

const nothingSet: ManagementServerSettings = { dnsServers: [], answers: {} };

/** One client, and so one session, per management server. Throws DriverError where the inventory does not know it. */
export function mgmtServers({
  componentManager,
  managementServer,
  limits,
  observe = unobserved,
}: Pick<ActivityDependencies, "componentManager" | "managementServer" | "limits" | "observe">) {
  const clientOf = managerClients(componentManager, (access, secrets) =>
    createVcsaClient(access, { callTimeout: limits.callTimeout, clock: limits.clock, secrets, observe }),
  );
  return ({ server }: Pick<MgmtTarget, "server">): MgmtServerAccess => {
    const settings = managementServer(server.resourceId) ?? nothingSet;
    const { temporaryRootPassword: password, answers } = settings;
    const secrets = [...(password === undefined ? [] : [password]), ...Object.values(answers)];
    return { client: clientOf(server.componentManagerId, secrets), settings };
  };
}
