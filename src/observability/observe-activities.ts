import type { Context } from "@temporalio/activity";
import { ApplicationFailure, CancelledFailure, defaultPayloadConverter, type Payload } from "@temporalio/common";
import { trace } from "@opentelemetry/api";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import type { Logger } from "pino";
import { type HostResult, workerShutdown } from "../domain/host-remediation";
import type { HostsResult } from "../domain/hosts-remediation";
import { taskIdHeader } from "../../workflows/messages";
import { withTask } from "./task-context";
import type { WorkerMetrics } from "./worker-metrics";

/**
 * Logs where each run of an Activity begins and ends, puts the Task id on its lines and spans, and counts failures and
 * hosts. A run happens once, unlike a Workflow's code, so nothing is counted by a replay.
 */
export function observeActivities(log: Logger, metrics: WorkerMetrics): ActivityInterceptorsFactory {
  return (context) => {
    let taskId = context.info.workflowExecution?.workflowId ?? "";
    return {
      inbound: {
        execute: (input, next) => {
          taskId = taskIdIn(input.headers[taskIdHeader]) ?? taskId;
          return withTask({ taskId }, () => observed(context, taskId, input.args[0], () => next(input)));
        },
      },
      outbound: { getLogAttributes: (attributes, next) => next({ taskId, ...attributes }) },
    };
  };

  async function observed(context: Context, taskId: string, input: unknown, run: () => Promise<unknown>) {
    const { activityType, attempt } = context.info;
    const about = { taskId, activity: activityType, attempt, on: targetOf(input) };
    const began = performance.now();
    const ended = (outcome: string) => ({ ...about, outcome, milliseconds: Math.round(performance.now() - began) });
    trace.getActiveSpan()?.setAttributes({ "ums.task.id": taskId, "ums.activity.attempt": attempt });
    log.info(about, "activity started");
    try {
      const result = await run();
      countHosts(metrics, context, result);
      log.info(ended("completed"), "activity ended");
      return result;
    } catch (error) {
      const errorCode = codeOf(error);
      // A run that is handed over or cancelled has not failed.
      const failed = errorCode !== undefined && errorCode !== workerShutdown && errorCode !== "CANCELLED";
      if (failed) metrics.countFailure(errorCode);
      if (activityType === "remediateHost" && errorCode !== workerShutdown)
        metrics.countHosts(failed ? "failed" : "stopped", 1);
      log.info({ ...ended(failed ? "failed" : "stopped"), errorCode }, "activity ended");
      throw error;
    }
  }
}

function taskIdIn(header: Payload | undefined): string | undefined {
  const id: unknown = header && defaultPayloadConverter.fromPayload(header);
  return typeof id === "string" ? id : undefined;
}

/** What an Activity works on, in a word, by the names that its input has. */
function targetOf(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const { host, hosts, component, cluster, netvirt, server } = input as Partial<Record<string, unknown>>;
  if (Array.isArray(hosts)) return `${hosts.length} hosts`;
  for (const part of [host, component, cluster, netvirt, server]) {
    if (typeof part === "string") return part;
    if (typeof part !== "object" || part === null) continue;
    const { fqdn, name } = part as Partial<Record<string, unknown>>;
    const known = fqdn ?? name;
    if (typeof known === "string") return known;
  }
  return undefined;
}

/** The code of a failure; undefined of a cancellation. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof CancelledFailure) return undefined;
  return error instanceof ApplicationFailure ? (error.type ?? "UNEXPECTED") : "UNEXPECTED";
}

/** Counts the hosts that a result tells, by its shape: one (`HostResult`) or several (`HostsResult`). */
function countHosts(metrics: WorkerMetrics, { info }: Context, result: unknown): void {
  if (info.activityType !== "remediateHost" && info.activityType !== "remediateHosts") return;
  const { outcome, upgraded = [], failed = [], stopped = [] } = result as Partial<HostResult & HostsResult>;
  const ends = outcome === undefined ? upgraded.map((host) => host.outcome) : [outcome];
  const seconds = (Date.now() - info.scheduledTimestampMs) / 1000;
  for (const end of ends) {
    metrics.countHosts(end === "UPGRADED" ? "upgraded" : "already_at_target", 1);
    if (end === "UPGRADED") metrics.measureHost(seconds);
  }
  if (failed.length > 0) metrics.countHosts("failed", failed.length);
  if (stopped.length > 0) metrics.countHosts("stopped", stopped.length);
}
