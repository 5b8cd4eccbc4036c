import type Router from "@koa/router";
import type { World } from "../state/world";
import { vapiRouter } from "../vlcm/vapi-router";
import { migrationRoutes } from "./migration-routes";
import { updateRoutes } from "./update-routes";

/** The management server's own update and migration, under `/api` beside the lifecycle manager's calls. */
export function vcsaApi(world: World): Router {
  const router = vapiRouter(world);
  updateRoutes(router, world);
  migrationRoutes(router, world);
  return router;
}
