import { isSpanContextValid, trace } from "@opentelemetry/api";
import { currentRequestId } from "./request-context";

/** Fields of every log line: the HTTP request and the trace on whose behalf it is written, where there are any. */
export function logContext(): Record<string, string> {
  const requestId = currentRequestId();
  const span = trace.getActiveSpan()?.spanContext();
  return {
    ...(requestId !== undefined && { requestId }),
    ...(span && isSpanContextValid(span) && { trace_id: span.traceId, span_id: span.spanId }),
  };
}
