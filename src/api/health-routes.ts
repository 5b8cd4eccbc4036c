import { pipe } from "fp-ts/function";
import * as TE from "fp-ts/TaskEither";
import * as t from "io-ts";
import { model, OneOf } from "../domain/codec";
import { ErrorBody } from "../domain/error-body";
import type { UpgradeService } from "../upgrades/upgrade-service";
import { json } from "./answer";
import type { ApiError } from "./api-error";
import { noParameters, route, type Route } from "./route";

/**
 * That the process, or the service as a whole, does its work. `problems`: what it cannot do for some upgrades; requests are
 * served all the same, and no other process would do better.
 */
export const Health = model({ status: OneOf("UP") }, { problems: t.array(ErrorBody) });
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
          TE.bimap((reason): ApiError => ({ _tag: "NotReady", reason }), readyHealth),
        ),
    }),
  ];
}
