import Router from "@koa/router";
import type { Context, Next } from "koa";
import { send, UnreadableBody } from "../http/answering";
import { requestFaults } from "../http/request-faults";
import type { World } from "../state/world";
import { draftRoutes } from "./draft-routes";
import { inventoryRoutes } from "./inventory-routes";
import { policyRoutes } from "./policy-routes";
import { reportRoutes } from "./report-routes";
import { sessionRoutes } from "./session-routes";
import { softwareRoutes } from "./software-routes";
import { taskRoutes } from "./task-routes";
import { invalidArgument, VapiError } from "./vapi-error";

const refusals = {
  SERVICE_UNAVAILABLE: new VapiError("SERVICE_UNAVAILABLE", "service.unavailable", "The service is not available."),
  TIMED_OUT: new VapiError("TIMED_OUT", "operation.timed_out", "The operation did not end in time."),
};

/** Turns what a handler threw into the vAPI's error body; an error of our own stays one and ends as a 500. */
async function vapiErrors(ctx: Context, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    const known = error instanceof UnreadableBody ? invalidArgument([error.message]) : error;
    if (!(known instanceof VapiError)) throw error;
    send(ctx, known.answer);
  }
}

/** The lifecycle manager's REST API under `/api`, one router of its own so that other APIs stand beside it. */
export function vlcmApi(world: World): Router {
  const router = new Router({ prefix: "/api" });
  router.use(requestFaults(world, (ctx, why) => send(ctx, refusals[why].answer)));
  router.use(async (ctx, next) => {
    await vapiErrors(ctx, next);
    await world.saved();
  });
  sessionRoutes(router, world);
  inventoryRoutes(router, world);
  softwareRoutes(router, world);
  draftRoutes(router, world);
  policyRoutes(router, world);
  reportRoutes(router, world);
  taskRoutes(router, world);
  router.all("/{*path}", (ctx) => {
    throw new VapiError("NOT_FOUND", "operation.not_found", `There is no ${ctx.method} ${ctx.path}.`);
  });
  return router;
}
