import type Router from "@koa/router";
import type { World } from "../state/world";
import { groupOf, pageOf, stillInProgress, wantedComponents, wantedGroups, withManager } from "./nsx-calls";
import { groupStatusView, statusView, summaryView, unitStatusView } from "./nsx-views";

/** How far everything is. */
export function statusRoutes(router: Router, world: World): void {
  const calls = withManager(router, world);

  calls.get("/upgrade/summary", ({ manager }) => ({ status: 200, body: summaryView(manager, world.now()) }));

  calls.get("/upgrade/status-summary", (call) => {
    stillInProgress(world);
    return { status: 200, body: statusView(call.manager, wantedComponents(call), world.now()) };
  });

  calls.get("/upgrade/upgrade-unit-groups-status", (call) => {
    stillInProgress(world);
    const groups = wantedGroups(call).map((group) => groupStatusView(group, world.now()));
    return { status: 200, body: pageOf(call, groups) };
  });

  calls.get("/upgrade/upgrade-unit-groups/:group/status", (call) => {
    stillInProgress(world);
    const { units } = groupOf(call);
    return {
      status: 200,
      body: pageOf(
        call,
        units.map((unit) => unitStatusView(unit, world.now())),
      ),
    };
  });
}
