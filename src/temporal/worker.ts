import type { DataConverter } from "@temporalio/common";
import { NativeConnection, Worker, type WorkerOptions as SdkOptions } from "@temporalio/worker";
import type { UpgradeActivities } from "../../activities/contract";
import { taskQueue } from "../../workflows/messages";
import { type Clock, monotonicClock } from "../clock";
import { intervalAfter, type RetryIntervals } from "../domain/retry-intervals";
import { oneLine } from "../startup-error";
import type { TemporalTarget } from "./connection";

export interface WorkerOptions {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly activities: UpgradeActivities;
  /** Path of the Workflow bundle that the build has made. */
  readonly workflowBundle: string;
  /** Path of the module that exports `payloadConverter`; the bundle was made with the same one. */
  readonly payloadConverter: string;
  /** Codecs of payloads, and the failure converter that the bundle was made with. */
  readonly conversion: DataConverter;
  /** How many Workflows it keeps in memory; the rest is replayed when something happens to it. */
  readonly cachedWorkflows: number;
  /** Whoever watches Activities, from the outside in. */
  readonly activityInterceptors?: NonNullable<SdkOptions["interceptors"]>["activity"];
  /** What the bundle's Workflow interceptors need. */
  readonly sinks?: SdkOptions["sinks"];
}

/** The worker of all Workflows and Activities. Its `run` ends when it has been shut down. */
export function createWorker({
  connection,
  namespace,
  activities,
  workflowBundle,
  payloadConverter,
  conversion,
  cachedWorkflows,
  activityInterceptors = [],
  sinks = {},
}: WorkerOptions) {
  return Worker.create({
    connection,
    namespace,
    taskQueue,
    activities,
    workflowBundle: { codePath: workflowBundle },
    dataConverter: { ...conversion, payloadConverterPath: payloadConverter },
    interceptors: { activity: activityInterceptors },
    sinks,
    // Activities are told at once and hand over to another worker (or to the next start) themselves.
    shutdownGraceTime: 0,
    shutdownForceTime: "4 seconds",
    // The SDK's own choice, by the size of the heap, is thousands, and drafts that wait for weeks fill them.
    maxCachedWorkflows: cachedWorkflows,
    // An Activity waits far more than it works; every remediation, of a host or of several together, holds one slot.
    maxConcurrentActivityTaskExecutions: 2000,
    // What the Task shows of a running host is as old as its last heartbeat.
    maxHeartbeatThrottleInterval: "1 second",
    defaultHeartbeatThrottleInterval: "1 second",
  });
}

const connectTries: RetryIntervals = { initialInterval: 250, backoffCoefficient: 2, maximumInterval: 2_000 };

/**
 * A worker's connection; tries again until `giveUpAfter` milliseconds have passed, then rejects with the last error.
 * `onFirstFailure` tells that it has to wait, and why.
 */
export async function connectWorker(
  { connection }: TemporalTarget,
  giveUpAfter: number,
  onFirstFailure: (error: unknown) => void,
  clock: Clock = monotonicClock,
): Promise<NativeConnection> {
  const began = clock.now();
  for (let failures = 1; ; failures++) {
    try {
      return await NativeConnection.connect(connection);
    } catch (error) {
      if (clock.now() - began >= giveUpAfter) throw error;
      if (failures === 1) onFirstFailure(error);
      await clock.sleep(intervalAfter(failures, connectTries));
    }
  }
}

/** Why a worker's connection failed: of the engine's nested Rust values only what the operating system said. */
export function connectProblem(error: unknown): string {
  const raw = oneLine(error);
  const said = [...raw.matchAll(/\b(?:message|error): "((?:[^"\\]|\\.)*)"/g)].at(-1)?.[1];
  return said ?? (raw.startsWith("tonic::") ? "no connection" : raw);
}
