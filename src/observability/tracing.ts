import { propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResourcesSync, envDetectorSync, Resource } from "@opentelemetry/resources";
import { BatchSpanProcessor, type SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import type { ClientInterceptors } from "@temporalio/client";
import {
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryActivityOutboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
} from "@temporalio/interceptors-opentelemetry";
import type { ActivityInterceptorsFactory } from "@temporalio/worker";
import type { ApiMiddleware } from "../api/api-context";
import { currentRequestId } from "./context";

/** What a process needs to take part in traces. Made only where spans are sent, so it costs nothing elsewhere. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Begins a trace, or goes on with that of the client's `traceparent`; to be put around all other middleware. */
  readonly traceRequests: ApiMiddleware;
  readonly clientInterceptors: ClientInterceptors;
  readonly activityInterceptors: ActivityInterceptorsFactory;
  /** Sends what is left. */
  stop(): Promise<void>;
}

/**
 * Sends the spans of this process by OTLP over HTTP. Where to, sampling and limits are the standard variables of
 * OpenTelemetry, which its packages read themselves. `serviceName` stands where OTEL_SERVICE_NAME does not.
 */
export function startTracing(serviceName: string): Tracing {
  const named = new Resource({ "service.name": serviceName });
  const resource = named.merge(detectResourcesSync({ detectors: [envDetectorSync] }));
  const processor = withRequest(new BatchSpanProcessor(new OTLPTraceExporter()));
  const provider = new NodeTracerProvider({ resource, spanProcessors: [processor] });
  // With the context manager and the W3C propagator.
  provider.register();
  const tracer = provider.getTracer("upgrade-management-service");
  return {
    tracer,
    traceRequests: tracedRequests(tracer),
    clientInterceptors: { workflow: [new OpenTelemetryWorkflowClientInterceptor()] },
    activityInterceptors: (context) => ({
      inbound: new OpenTelemetryActivityInboundInterceptor(context),
      outbound: new OpenTelemetryActivityOutboundInterceptor(context),
    }),
    stop: () => provider.shutdown().catch(() => undefined),
  };
}

/** So that the request is on all that is done for it: calls to Temporal and to component managers among it. */
function withRequest(processor: SpanProcessor): SpanProcessor {
  return {
    onStart: (span, context) => {
      const requestId = currentRequestId();
      if (requestId !== undefined) span.setAttribute("ums.request.id", requestId);
      processor.onStart(span, context);
    },
    onEnd: (span) => processor.onEnd(span),
    forceFlush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  };
}

/** Neither headers, query nor body are recorded, so no credentials. */
function tracedRequests(tracer: Tracer): ApiMiddleware {
  return (ctx, next) => {
    const { method } = ctx;
    // Asked every few seconds by machines: they would bury what people look for.
    if (/^\/(health|metrics)/.test(ctx.req.url ?? "")) return next();
    const from = propagation.extract(ROOT_CONTEXT, ctx.req.headers);
    return tracer.startActiveSpan(method, { kind: SpanKind.SERVER }, from, async (span) => {
      try {
        await next();
      } finally {
        const { route, requestId, taskId, failure } = ctx.state;
        if (route !== undefined) span.updateName(`${method} ${route}`);
        span.setAttributes({
          "http.request.method": method,
          "http.response.status_code": ctx.status,
          ...(route !== undefined && { "http.route": route }),
          "ums.request.id": requestId,
          ...(taskId !== undefined && { "ums.task.id": taskId }),
          ...(failure?.body.errorCode !== undefined && { "ums.error.code": failure.body.errorCode }),
        });
        if (ctx.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      }
    });
  };
}
