import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import type * as t from "io-ts";
import { model, OneOf } from "../domain/codec";
import type { UpgradeService } from "../upgrades/upgrade-service";
import { json } from "./answer";
import type { ApiError } from "./api-error";
import { noParameters, route, type Route } from "./route";

/** That the process, or the service as a whole, does its work. */
export const Health = model({ status: OneOf("UP") }, {});
type Health = t.TypeOf<typeof Health>;

const up: Health = { status: "UP" };

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
      summary: "Whether the process runs",
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
      summary: "Whether the service can do its work now",
      request: noParameters,
      success: { status: 200, description: "It can", representation: json(Health) },
      successExample: up,
      failures: [500, 503],
      handle: () =>
        pipe(
          service.checkReady(),
          TE.bimap(
            (reason): ApiError => ({ _tag: "NotReady", reason }),
            () => up,
          ),
        ),
    }),
  ];
}
