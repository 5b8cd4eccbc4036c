import * as TE from "fp-ts/TaskEither";
import { unexpected } from "../upgrades/service-error";
import { bytes } from "./answer";
import { noParameters, route, type Route } from "./route";

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
