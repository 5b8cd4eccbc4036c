import type Router from "@koa/router";
import type { World } from "../state/world";
import { VapiError } from "../vlcm/vapi-error";
import { vapiRouter } from "../vlcm/vapi-router";
import { withCredentials, withUserOfSession } from "../vlcm/vlcm-calls";
import { migrationRoutes, refuseOnOldSource } from "./migration-routes";
import { findCheckTask } from "./migration-view";
import { updateRoutes } from "./update-routes";

/** The management server's own update and migration, under `/api` beside the lifecycle manager's calls. */
export function vcsaApi(world: World): Router {
  const router = vapiRouter(world);
  router.use(refuseOnOldSource(world));
  updateRoutes(router, world);
  migrationRoutes(withUserOfSession(router, world), world);
  return router;
}

/** The endpoint of the upgrade service itself, for the migration: there on sources of every version, and in the switchover. */
export function upgradeServiceApi(world: World): Router {
  const router = vapiRouter(world, "/lcm/api");
  const calls = withCredentials(router, world);
  migrationRoutes(calls, world);
  calls.get("/cis/tasks/:task", ({ params }) => {
    const check = findCheckTask(world, params["task"]);
    if (!check) throw new VapiError("NOT_FOUND", "task.not_found", `There is no task ${params["task"]}.`);
    return { status: 200, body: check };
  });
  return router;
}
