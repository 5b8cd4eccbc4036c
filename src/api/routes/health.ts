import * as TE from "fp-ts/TaskEither";
import { pipe } from "fp-ts/function";
import * as t from "io-ts";
import { model, OneOf } from "../../domain/codec";
import { ErrorBody } from "../../domain/errors";
import { unexpected } from "../../upgrades/service-error";
import type { UpgradeService } from "../../upgrades/upgrade-service";
import type { ApiError } from "../api-error";
import { bytes, json } from "../response";
import { noParameters, route, type Route } from "../route";

export const HealthStatus = OneOf("UP");

/**
 * Health of the process, or of the service as a whole. `problems`: what it cannot do for some upgrades; requests are
 * served all the same, and no other process would do better.
 */
export const Health = model({ status: HealthStatus }, { problems: t.array(ErrorBody) });
type Health = t.TypeOf<typeof Health>;

const up: Health = { status: "UP" };

/** The body of a readiness that is given. */
function readyHealth(problems: readonly ErrorBody[]): Health {
  return problems.length === 0 ? up : { ...up, problems: [...problems] };
}

/** Liveness and readiness, for whatever starts and stops processes and sends them requests. */
export function healthRoutes(service: UpgradeService): Route[] {
  return [
    route({
      method: "GET",
      path: "/health/live",
      access: "OPEN",
      role: "ANYONE",
      load: "NONE",
      operationId: "checkLive",
      tag: "health",
      summary: "Check that the process runs",
      request: noParameters,
      success: { status: 200, description: "It runs", representation: json(Health) },
      successExample: up,
      failures: [500],
      handle: () => TE.right(up),
    }),
    route({
      method: "GET",
      path: "/health/ready",
      access: "OPEN",
      role: "ANYONE",
      load: "NONE",
      operationId: "checkReady",
      tag: "health",
      summary: "Check that the service is ready",
      request: noParameters,
      success: { status: 200, description: "It can", representation: json(Health) },
      successExample: up,
      failures: [500, 503],
      handle: () =>
        pipe(
          service.checkReady(),
          TE.bimap((reason): ApiError => ({ _tag: "NotReady", reason }), readyHealth),
        ),
    }),
  ];
}

/** Where the numbers of this process come from. */
export interface MetricsSource {
  readonly contentType: string;
  read(): Promise<string>;
}

/** Numbers for Prometheus (docs/observability.md). They tell how much is going on where, so a reader's role is needed. */
export function metricsRoutes({ contentType, read }: MetricsSource): Route[] {
  return [
    route({
      method: "GET",
      path: "/metrics",
      access: "READ",
      role: "VIEWER",
      load: "NONE",
      operationId: "readMetrics",
      tag: "health",
      summary: "Metrics of this process in the format of Prometheus",
      request: noParameters,
      success: { status: 200, description: "The metrics", representation: bytes(contentType) },
      successExample: "ums_http_requests_in_flight 1\n",
      failures: [500],
      handle: () => TE.tryCatch(async () => Buffer.from(await read()), unexpected),
    }),
  ];
}
