import Router from "@koa/router";
import type { Context, Next } from "koa";
import { send, UnreadableBody } from "../http/answering";
import { requestFaults } from "../http/request-faults";
import type { World } from "../state/world";
import { groupRoutes } from "./group-routes";
import { NsxError } from "./nsx-error";
import { planRoutes } from "./plan-routes";
import { statusRoutes } from "./status-routes";

/** Turns what a handler threw into the product's error body; an error of our own stays one and ends as a 500. */
async function nsxErrors(ctx: Context, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    const known = error instanceof UnreadableBody ? new NsxError(400, 255, error.message) : error;
    if (!(known instanceof NsxError)) throw error;
    send(ctx, known.answer);
  }
}

/**
 * The API of NETVIRT managers. Each has a root of its own, `/nsx/<id>`, as each is a server of its own; the first is
 * also at the root of the simulator, for clients that know no path before `/api`.
 */
export function nsxApis(world: World): Router[] {
  return ["/nsx/:manager/api/v1", "/api/v1"].map((prefix) => nsxApi(world, prefix));
}

function nsxApi(world: World, prefix: string): Router {
  const router = new Router({ prefix });
  router.use(requestFaults(world, (ctx) => send(ctx, new NsxError(503, 98, "The service is unavailable.").answer)));
  router.use(async (ctx, next) => {
    await nsxErrors(ctx, next);
    await world.saved();
  });
  statusRoutes(router, world);
  groupRoutes(router, world);
  planRoutes(router, world);
  router.all("/{*path}", (ctx) => {
    throw new NsxError(404, 600, `There is no ${ctx.method} ${ctx.path}.`);
  });
  return router;
}
