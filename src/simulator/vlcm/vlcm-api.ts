import type Router from "@koa/router";
import type { World } from "../state/world";
import { draftRoutes } from "./draft-routes";
import { inventoryRoutes } from "./inventory-routes";
import { policyRoutes } from "./policy-routes";
import { reportRoutes } from "./report-routes";
import { sessionRoutes } from "./session-routes";
import { softwareRoutes } from "./software-routes";
import { taskRoutes } from "./task-routes";
import { VapiError } from "./vapi-error";
import { vapiRouter } from "./vapi-router";

/** The lifecycle manager's REST API under `/api`, one router of its own so that other APIs stand beside it. */
export function vlcmApi(world: World): Router {
  const router = vapiRouter(world);
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
