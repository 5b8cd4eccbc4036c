import Router from "@koa/router";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import type { Context, Next } from "koa";
import { model } from "../../domain/codec";
import { decodeStrictly } from "../config/decode-strictly";
import { send, UnreadableBody } from "../http/answering";
import { requestFaults } from "../http/request-faults";
import type { SimulatorContext } from "../state/context";
import {
  componentOf,
  groupOf,
  type NsxCall,
  pageOf,
  stillInProgress,
  wantedComponents,
  wantedGroups,
  withManager,
} from "./nsx-calls";
import { conditionRoutes } from "./nsx-condition";
import { NsxError } from "./nsx-error";
import { isChecking, pause, startChecks, startComponent } from "./nsx-plan";
import type { NsxComponent, NsxGroup } from "./nsx-state";
import { isActiveComponent, recordNsx } from "./nsx-timeline";
import {
  checkFailures,
  groupStatusView,
  groupView,
  settingsView,
  statusView,
  summaryView,
  unitStatusView,
} from "./nsx-views";

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
export function nsxApis(context: SimulatorContext): Router[] {
  return ["/nsx/:manager/api/v1", "/api/v1"].map((prefix) => nsxApi(context, prefix));
}

function nsxApi(context: SimulatorContext, prefix: string): Router {
  const router = new Router({ prefix });
  router.use(requestFaults(context, (ctx) => send(ctx, new NsxError(503, 98, "The service is unavailable.").answer)));
  router.use(async (ctx, next) => {
    await nsxErrors(ctx, next);
    await context.saved();
  });
  statusRoutes(router, context);
  groupRoutes(router, context);
  planRoutes(router, context);
  conditionRoutes(router, context);
  router.all("/{*path}", (ctx) => {
    throw new NsxError(404, 600, `There is no ${ctx.method} ${ctx.path}.`);
  });
  return router;
}

/** What of a group can be changed; the rest of a body is what was read and is not looked at. */
const GroupBody = t.intersection([
  t.type({ _revision: t.number }),
  t.partial({
    type: t.string,
    parallel: t.boolean,
    enabled: t.boolean,
    pause_after_each_upgrade_unit: t.boolean,
    extended_configuration: t.array(t.type({ key: t.string, value: t.string })),
  }),
]);
type GroupBody = t.TypeOf<typeof GroupBody>;

const configurationValues: Readonly<Record<string, readonly string[]>> = {
  upgrade_mode: ["in_place", "maintenance_mode", "stage_in_vlcm"],
  rebootless_upgrade: ["true", "false"],
};

function checkRevision(context: SimulatorContext, group: NsxGroup, { _revision }: GroupBody): void {
  const fault = context.findFault(["NSX_REVISION_STALE"]);
  if (fault) {
    context.useFault(fault);
    group.revision += 1;
  }
  if (_revision === group.revision) return;
  throw new NsxError(
    412,
    604,
    `The object ${group.id} was changed: its revision is ${group.revision}, not ${_revision}.`,
  );
}

function checkChange({ manager }: NsxCall, group: NsxGroup, body: GroupBody): void {
  if (isActiveComponent(componentOf(manager, group.type))) {
    throw new NsxError(400, 30021, `Groups of ${group.type} cannot be changed while its upgrade runs.`);
  }
  if (body.type !== undefined && body.type !== group.type) {
    throw new NsxError(400, 255, "The type of a group cannot be changed.");
  }
  if (group.type !== "HOST" && body.parallel !== undefined && body.parallel !== group.parallel) {
    throw new NsxError(400, 30022, `parallel cannot be changed for groups of ${group.type}.`);
  }
  for (const { key, value } of body.extended_configuration ?? []) {
    if (group.type !== "HOST" || !configurationValues[key]?.includes(value)) {
      throw new NsxError(400, 255, `extended_configuration of ${group.type} takes no ${key} ${value}.`);
    }
  }
}

/** Groups of nodes, read and changed; a change needs the current revision. */
function groupRoutes(router: Router, context: SimulatorContext): void {
  const calls = withManager(router, context);
  const isSummary = ({ query }: NsxCall) => query.get("summary") === "true";

  calls.get("/upgrade/upgrade-unit-groups", (call) => {
    const groups = wantedGroups(call).map((group) => groupView(group, isSummary(call)));
    return { status: 200, body: pageOf(call, groups) };
  });

  calls.get("/upgrade/upgrade-unit-groups/:group", (call) => ({
    status: 200,
    body: groupView(groupOf(call), isSummary(call)),
  }));

  calls.put("/upgrade/upgrade-unit-groups/:group", (call) => {
    const group = groupOf(call);
    const body = GroupBody.decode(call.body);
    if (E.isLeft(body)) throw new NsxError(400, 255, "The group is not one, or has no _revision.");
    checkRevision(context, group, body.right);
    checkChange(call, group, body.right);
    const { parallel, enabled, pause_after_each_upgrade_unit, extended_configuration } = body.right;
    Object.assign(group, {
      ...(parallel !== undefined && { parallel }),
      ...(enabled !== undefined && { enabled }),
      ...(pause_after_each_upgrade_unit !== undefined && { pauseAfterEachUnit: pause_after_each_upgrade_unit }),
      ...(extended_configuration && {
        extendedConfiguration: extended_configuration.map(({ key, value }) => ({ key, value })),
      }),
    });
    group.revision += 1;
    const { upgrade_units: _, ...view } = groupView(group);
    recordNsx(context, call.manager, { at: context.now(), step: "NSX_GROUP_SET", detail: JSON.stringify(view) });
    context.changed();
    return { status: 200, body: groupView(group) };
  });
}

const SettingsBody = model({}, { parallel: t.boolean, pause_on_error: t.boolean, pause_after_each_group: t.boolean });

/** The component that has settings; the finalization has none. */
function plannedComponent({ manager, params }: NsxCall): NsxComponent {
  const component = componentOf(manager, params["component"] ?? "");
  if (component.type === "FINALIZE_UPGRADE") throw new NsxError(404, 600, "The finalization has no settings.");
  return component;
}

/** The component of a plan action; without one the next that is to be upgraded. */
function actedOn({ manager, query }: NsxCall): NsxComponent {
  const type = query.get("component_type");
  const next = manager.components.find(({ status }) => status !== "SUCCESS");
  const component = type === null ? next : componentOf(manager, type);
  if (!component) throw new NsxError(400, 30014, "Everything is upgraded.");
  return component;
}

/** Plan, settings and checks: what makes the coordinator do something. */
function planRoutes(router: Router, context: SimulatorContext): void {
  const calls = withManager(router, context);

  calls.post("/upgrade", (call) => {
    const action = call.query.get("action");
    if (action !== "execute_pre_upgrade_checks") throw new NsxError(400, 255, `Action ${action} is not simulated.`);
    const components = wantedComponents(call);
    const fault = context.findFault(["NSX_PRECHECKS_RUNNING"]);
    const running = components.some((component) => isChecking(component, context.now()));
    if (!running) startChecks(context, call.manager, components);
    if (fault) context.useFault(fault);
    context.changed();
    if (fault || running) throw new NsxError(500, 30953, "Pre-upgrade checks are already in progress.");
    return { status: 204 };
  });

  calls.get("/upgrade/pre-upgrade-checks/failures", (call) => ({
    status: 200,
    body: pageOf(call, checkFailures(wantedComponents(call), context.now())),
  }));

  calls.get("/upgrade/plan/:component/settings", (call) => ({
    status: 200,
    body: settingsView(plannedComponent(call)),
  }));

  calls.put("/upgrade/plan/:component/settings", (call) => {
    const component = plannedComponent(call);
    const body = decodeStrictly(SettingsBody, call.body);
    if (E.isLeft(body)) throw new NsxError(400, 255, body.left.join("; "));
    if (isActiveComponent(component)) {
      throw new NsxError(400, 30021, `Settings of ${component.type} cannot be changed while its upgrade runs.`);
    }
    const { parallel, pause_on_error, pause_after_each_group } = body.right;
    if (component.type === "EDGE" && pause_on_error !== undefined && pause_on_error !== component.pauseOnError) {
      throw new NsxError(400, 30022, "pause_on_error cannot be changed for EDGE.");
    }
    component.parallel = parallel ?? component.parallel;
    component.pauseOnError = pause_on_error ?? component.pauseOnError;
    component.pauseAfterEachGroup = pause_after_each_group ?? component.pauseAfterEachGroup;
    const detail = `${component.type} ${JSON.stringify(settingsView(component))}`;
    recordNsx(context, call.manager, { at: context.now(), step: "NSX_SETTINGS_SET", detail });
    context.changed();
    return { status: 200, body: settingsView(component) };
  });

  calls.post("/upgrade/plan", (call) => {
    const action = call.query.get("action");
    switch (action) {
      case "pause":
        pause(context, call.manager);
        break;
      case "upgrade":
        startComponent(context, call.manager, actedOn(call), action);
        break;
      case "start":
      case "continue": {
        const component = actedOn(call);
        const fresh = component.status === "NOT_STARTED";
        if (fresh !== (action === "start") && component.status !== "SUCCESS") {
          throw new NsxError(400, 30015, `${component.type} is ${component.status}: action ${action} is not for it.`);
        }
        startComponent(context, call.manager, component, action);
        break;
      }
      default:
        throw new NsxError(400, 255, `Action ${action} is not simulated.`);
    }
    context.changed();
    return { status: 204 };
  });
}

/** How far everything is. */
function statusRoutes(router: Router, context: SimulatorContext): void {
  const calls = withManager(router, context);

  calls.get("/upgrade/summary", ({ manager }) => ({ status: 200, body: summaryView(manager, context.now()) }));

  calls.get("/upgrade/status-summary", (call) => {
    stillInProgress(context);
    return { status: 200, body: statusView(call.manager, wantedComponents(call), context.now()) };
  });

  calls.get("/upgrade/upgrade-unit-groups-status", (call) => {
    stillInProgress(context);
    const groups = wantedGroups(call).map((group) => groupStatusView(group, context.now()));
    return { status: 200, body: pageOf(call, groups) };
  });

  calls.get("/upgrade/upgrade-unit-groups/:group/status", (call) => {
    stillInProgress(context);
    const { units } = groupOf(call);
    return {
      status: 200,
      body: pageOf(
        call,
        units.map((unit) => unitStatusView(unit, context.now())),
      ),
    };
  });
}
