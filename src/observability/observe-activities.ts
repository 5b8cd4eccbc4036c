import { type Attributes, trace } from "@opentelemetry/api";
import type { Context, Info } from "@temporalio/activity";
import { ApplicationFailure, CancelledFailure, defaultPayloadConverter, type Payload } from "@temporalio/common";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import type { Logger } from "pino";
import type { RemediateHostsInput } from "../../activities/contract";
import { requestIdHeader, taskIdHeader } from "../../workflows/messages";
import { isClosed } from "../domain/opening";
import { type RemediationResult, workerShutdown } from "../domain/task/host-remediation";
import { logContext, taskAttributes, type TaskContext, withTask } from "./context";
import type { WorkerMetrics } from "./worker-metrics";

/**
 * Logs where each run of an Activity begins and ends, puts the Task id on its lines and spans, and counts failures and
 * hosts. A run happens once, unlike a Workflow's code, so nothing is counted by a replay.
 */
export function observeActivities(log: Logger, metrics: WorkerMetrics): ActivityInterceptorsFactory {
  return (context) => {
    let task: Pick<TaskContext, "taskId" | "requestId"> = { taskId: context.info.workflowExecution?.workflowId ?? "" };
    let attempt: number | undefined;
    return {
      inbound: {
        execute: (input, next) => {
          const requestId = textIn(input.headers[requestIdHeader]);
          task = {
            taskId: textIn(input.headers[taskIdHeader]) ?? task.taskId,
            ...(requestId !== undefined && { requestId }),
          };
          attempt = activityFacts(context.info, input.args[0]).attempt;
          return withTask({ ...task }, () => observed(context, task.taskId, input.args[0], () => next(input)));
        },
      },
      outbound: {
        getLogAttributes: (attributes, next) =>
          // The SDK writes lines later, when what they were written on behalf of is not known any more.
          next({
            ...attributes,
            ...logContext(),
            ...task,
            ...(attempt !== undefined && { attempt, run: context.info.attempt }),
          }),
      },
    };
  };

  async function observed(context: Context, taskId: string, input: unknown, run: () => Promise<unknown>) {
    const { activityType } = context.info;
    const facts = activityFacts(context.info, input);
    const about = { taskId, activity: activityType, run: context.info.attempt, ...facts };
    const began = performance.now();
    const span = trace.getActiveSpan();
    const ended = (outcome: string, more: object = {}) => {
      span?.setAttribute("ums.activity.outcome", outcome);
      const milliseconds = Math.round(performance.now() - began);
      log.info({ ...about, outcome, milliseconds, ...more }, "activity ended");
    };
    span?.setAttributes({ ...taskAttributes(), ...spanAttributes(facts) });
    log.info(about, "activity started");
    try {
      const result = await run();
      countHosts(metrics, context, result);
      ended("completed", resultOf(result));
      return result;
    } catch (error) {
      const errorCode = codeOf(error);
      // A run that is handed over, cancelled or kept from beginning has not failed.
      const failed = errorCode !== undefined && !notFailed.has(errorCode) && !isClosed({ errorCode });
      if (failed) metrics.countFailure(errorCode);
      if (isOneHost(activityType, input) && (failed || errorCode === undefined || errorCode === "CANCELLED"))
        metrics.countHosts(failed ? "failed" : "stopped", 1);
      if (errorCode !== undefined) span?.setAttribute("ums.error.code", errorCode);
      const left = failed && error instanceof ApplicationFailure ? attemptsAfter(facts, input, error) : {};
      ended(failed ? "failed" : "stopped", { errorCode, ...left });
      throw error;
    }
  }
}

/** How runs end that have not failed. */
const notFailed: ReadonlySet<string> = new Set([workerShutdown, "CANCELLED"]);

function textIn(header: Payload | undefined): string | undefined {
  const id: unknown = header && defaultPayloadConverter.fromPayload(header);
  return typeof id === "string" ? id : undefined;
}

/** Whether a run is about one host alone, whose failure it throws; of several the result tells the failed ones. */
function isOneHost(activityType: string, input: unknown): boolean {
  return activityType === "remediateHosts" && (input as RemediateHostsInput).hosts.length === 1;
}

/** Of a host or component that was looked after: whether it was upgraded or already was what it should be. */
function resultOf(result: unknown): { readonly result?: string } {
  const { outcome, upgraded } = (result ?? {}) as { readonly outcome?: unknown } & Partial<RemediationResult>;
  const end = upgraded?.length === 1 ? upgraded[0]?.outcome : outcome;
  return typeof end === "string" ? { result: end } : {};
}

function spanAttributes({ on, cluster, host, componentManager, attempt, attempts }: ActivityFacts): Attributes {
  return {
    "ums.activity.attempt": attempt,
    "ums.activity.attempts": attempts,
    "ums.activity.on": on,
    "ums.cluster": cluster,
    "ums.host": host,
    "ums.component_manager.id": componentManager,
  };
}

/** The code of a failure; undefined of a cancellation. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof CancelledFailure) return undefined;
  return error instanceof ApplicationFailure ? (error.type ?? "UNEXPECTED") : "UNEXPECTED";
}

/** Counts the hosts that a result tells. */
function countHosts(metrics: WorkerMetrics, { info }: Context, result: unknown): void {
  if (info.activityType !== "remediateHosts") return;
  const { upgraded, failed, stopped } = result as RemediationResult;
  const seconds = (Date.now() - info.scheduledTimestampMs) / 1000;
  for (const { outcome } of upgraded) {
    metrics.countHosts(outcome === "UPGRADED" ? "upgraded" : "already_at_target", 1);
    if (outcome === "UPGRADED") metrics.measureHost(seconds);
  }
  if (failed.length > 0) metrics.countHosts("failed", failed.length);
  if (stopped.length > 0) metrics.countHosts("stopped", stopped.length);
}

/** What the log and the spans say of a run of an Activity: on what it works, and which of its attempts it is. */
interface ActivityFacts {
  /** The host, component, cluster or server in a word. */
  readonly on?: string;
  readonly cluster?: string;
  readonly host?: string;
  readonly componentManager?: string;
  /** One more than the failures that have used up attempts; where these are not counted, as Temporal counts runs. */
  readonly attempt: number;
  /** How many attempts there are in all, where only failures that the component manager reports use them up. */
  readonly attempts?: number;
}

type Named = Partial<Record<string, unknown>>;

/** Read from the names that inputs have (activities/contract.ts), because an interceptor sees any Activity's. */
export function activityFacts({ attempt, heartbeatDetails }: Info, input: unknown): ActivityFacts {
  const given = named(input);
  const { hosts, component, cluster, netvirt, server } = given;
  const count = Array.isArray(hosts) ? hosts.length : 1;
  const host = given["host"] ?? (count === 1 ? named(hosts)[0] : undefined);
  const manager = [cluster, netvirt, server].map((part) => named(part)["componentManagerId"]).find(isText);
  const on = count > 1 ? `${count} hosts` : [host, component, cluster, netvirt, server].map(nameOf);
  const onWhat = typeof on === "string" ? on : on.find(isText);
  const clusterName = nameOf(cluster);
  const hostName = nameOf(host);
  const attempts = named(given["attempts"])["maximumAttempts"];
  const reported = [reportedIn(heartbeatDetails), reportedIn(given["resume"])].filter((count) => count !== undefined);
  return {
    ...(onWhat !== undefined && { on: onWhat }),
    ...(clusterName !== undefined && { cluster: clusterName }),
    ...(hostName !== undefined && { host: hostName }),
    ...(manager !== undefined && { componentManager: manager }),
    attempt: reported.length > 0 ? Math.max(...reported) + 1 : attempt,
    ...(typeof attempts === "number" && { attempts }),
  };
}

/** How a failed attempt leaves its host or component: attempts that are left, and after how many seconds the next one comes. */
export function attemptsAfter(
  { attempts }: ActivityFacts,
  input: unknown,
  failure: {
    readonly nonRetryable?: boolean | null | undefined;
    readonly details?: readonly unknown[] | null | undefined;
  },
): { readonly attemptsLeft?: number; readonly nextAttemptSeconds?: number } {
  const reported = reportedIn(named(failure.details?.[0])["progress"]);
  if (attempts === undefined || reported === undefined) return {};
  const { retryDelay } = named(named(input)["attempts"]);
  return {
    attemptsLeft: Math.max(0, attempts - reported),
    ...(failure.nonRetryable !== true && typeof retryDelay === "number" && { nextAttemptSeconds: retryDelay }),
  };
}

/** Failures that used up attempts, as progress tells them. */
function reportedIn(progress: unknown): number | undefined {
  const { reportedFailures, failures } = named(progress);
  // Several hosts count each on its own.
  const reported: unknown = Array.isArray(failures) && failures.length === 1 ? failures[0] : reportedFailures;
  return typeof reported === "number" ? reported : undefined;
}

function nameOf(part: unknown): string | undefined {
  if (isText(part)) return part;
  const { fqdn, name } = named(part);
  return [fqdn, name].find(isText);
}

function named(value: unknown): Named {
  return typeof value === "object" && value !== null ? value : {};
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
