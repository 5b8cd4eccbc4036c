import { AsyncLocalStorage } from "node:async_hooks";
import { isSpanContextValid, trace } from "@opentelemetry/api";
import type { ApiMiddleware, ApiState } from "../api/api-context";

const requests = new AsyncLocalStorage<Readonly<Partial<ApiState>>>();

/** Makes the request that is being handled known to all that is called for it ({@link currentRequestId}). */
export const keepRequest: ApiMiddleware = (ctx, next) => requests.run(ctx.state, next);

/** The `x-request-id` of the HTTP request on whose behalf this runs; undefined outside of one. */
export function currentRequestId(): string | undefined {
  return requests.getStore()?.requestId;
}

/** The Activity that is run: the upgrade and the request that it works for, and what was last told of its component manager. */
export interface TaskContext {
  readonly taskId: string;
  /** The `x-request-id` of the HTTP request on whose behalf it is run; absent where none was, or is not known. */
  readonly requestId?: string;
  /** Outcome and error code of the last call that failed, so that an outage is told once and not at every poll. */
  lastTrouble?: string | undefined;
}

const contexts = new AsyncLocalStorage<TaskContext>();

/** Runs something on behalf of an upgrade. */
export function withTask<A>(context: TaskContext, run: () => A): A {
  return contexts.run(context, run);
}

/** The upgrade on whose behalf this runs; undefined outside of Activities. */
export function currentTask(): TaskContext | undefined {
  return contexts.getStore();
}

/** By what the spans of an Activity are found; empty outside of Activities. */
export function taskAttributes(): Readonly<Record<string, string>> {
  const task = currentTask();
  if (!task) return {};
  return { "ums.task.id": task.taskId, ...(task.requestId !== undefined && { "ums.request.id": task.requestId }) };
}

/** Fields of every log line: the HTTP request, also of an Activity, and the trace on whose behalf it is written, where there are any. */
export function logContext(): Record<string, string> {
  const requestId = currentRequestId() ?? currentTask()?.requestId;
  const span = trace.getActiveSpan()?.spanContext();
  return {
    ...(requestId !== undefined && { requestId }),
    ...(span && isSpanContextValid(span) && { trace_id: span.traceId, span_id: span.spanId }),
  };
}
