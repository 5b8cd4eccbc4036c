import { defaultPayloadConverter, type Headers } from "@temporalio/common";
import type { WorkflowInterceptorsFactory } from "@temporalio/workflow";

/** Where the interceptors of OpenTelemetry for clients and Activities keep the context of a trace. */
const traceHeader = "_tracer-data";

const traceparent = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-[\da-f]{2}$/;

/**
 * Passes the trace of the request that started the Workflow on to its Activities, its children and its next run, and
 * that of a Signal to what the Signal brings about at once. Nothing is passed on where nothing is traced.
 *
 * The interceptors that OpenTelemetry has for Workflows make spans of them too, but await before they write a command:
 * the commands of one Workflow Task change their order, so a worker with tracing could not go on with a history of one
 * without. These add no command and no `await`, and are the same whether or not a worker traces.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let current: Headers = {};
  return {
    inbound: [
      {
        execute: (input, next) => {
          current = traceOf(input.headers);
          return next(input);
        },
        handleSignal: (input, next) => {
          const before = current;
          current = traceOf(input.headers);
          try {
            return next(input);
          } finally {
            current = before;
          }
        },
      },
    ],
    outbound: [
      {
        getLogAttributes: (attributes, next) => next({ ...attributes, ...loggedTrace(current) }),
        scheduleActivity: (input, next) => next(withTrace(input, current)),
        scheduleLocalActivity: (input, next) => next(withTrace(input, current)),
        startChildWorkflowExecution: (input, next) => next(withTrace(input, current)),
        signalWorkflow: (input, next) => next(withTrace(input, current)),
        continueAsNew: (input, next) => next(withTrace(input, current)),
      },
    ],
  };
};

function traceOf({ [traceHeader]: trace }: Headers): Headers {
  return trace === undefined ? {} : { [traceHeader]: trace };
}

function withTrace<I extends { readonly headers: Headers }>(input: I, trace: Headers): I {
  return { ...input, headers: { ...input.headers, ...trace } };
}

/** The ids of a trace and of the span in it that was the cause, as OpenTelemetry names them on log lines. */
function loggedTrace({ [traceHeader]: trace }: Headers): { trace_id?: string; span_id?: string } {
  if (trace === undefined) return {};
  const carrier = defaultPayloadConverter.fromPayload<{ readonly traceparent?: unknown }>(trace);
  const [, traceId, spanId] = traceparent.exec(String(carrier.traceparent)) ?? [];
  return traceId === undefined || spanId === undefined ? {} : { trace_id: traceId, span_id: spanId };
}
