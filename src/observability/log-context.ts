import { isSpanContextValid, trace } from "@opentelemetry/api";
import { currentRequestId } from "./request-context";
import { currentTask } from "./task-context";

/** Fields of every log line: the HTTP request, also of an Activity, and the trace on whose behalf it is written, where there are any. */
export function logContext(): Record<string, string> {
  const requestId = currentRequestId() ?? currentTask()?.requestId;
  const span = trace.getActiveSpan()?.spanContext();
  return {
    ...(requestId !== undefined && { requestId }),
    ...(span && isSpanContextValid(span) && { trace_id: span.traceId, span_id: span.spanId }),
  };
}
