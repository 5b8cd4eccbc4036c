import type Router from "@koa/router";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { model } from "../../domain/codec";
import { decodeStrictly } from "../config/decode-strictly";
import type { World } from "../state/world";
import { componentOf, pageOf, type NsxCall, wantedComponents, withManager } from "./nsx-calls";
import { NsxError } from "./nsx-error";
import { isChecking, pause, startChecks, startComponent } from "./nsx-plan";
import type { NsxComponent } from "./nsx-state";
import { isActiveComponent, recordNsx } from "./nsx-timeline";
import { checkFailures, settingsView } from "./nsx-views";

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
export function planRoutes(router: Router, world: World): void {
  const calls = withManager(router, world);

  calls.post("/upgrade", (call) => {
    const action = call.query.get("action");
    if (action !== "execute_pre_upgrade_checks") throw new NsxError(400, 255, `Action ${action} is not simulated.`);
    const components = wantedComponents(call);
    const fault = world.findFault(["NSX_PRECHECKS_RUNNING"]);
    const running = components.some((component) => isChecking(component, world.now()));
    if (!running) startChecks(world, call.manager, components);
    if (fault) world.useFault(fault);
    world.changed();
    if (fault || running) throw new NsxError(500, 30953, "Pre-upgrade checks are already in progress.");
    return { status: 204 };
  });

  calls.get("/upgrade/pre-upgrade-checks/failures", (call) => ({
    status: 200,
    body: pageOf(call, checkFailures(wantedComponents(call), world.now())),
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
    recordNsx(world, call.manager, { at: world.now(), step: "NSX_SETTINGS_SET", detail });
    world.changed();
    return { status: 200, body: settingsView(component) };
  });

  calls.post("/upgrade/plan", (call) => {
    const action = call.query.get("action");
    switch (action) {
      case "pause":
        pause(world, call.manager);
        break;
      case "upgrade":
        startComponent(world, call.manager, actedOn(call), action);
        break;
      case "start":
      case "continue": {
        const component = actedOn(call);
        const fresh = component.status === "NOT_STARTED";
        if (fresh !== (action === "start") && component.status !== "SUCCESS") {
          throw new NsxError(400, 30015, `${component.type} is ${component.status}: action ${action} is not for it.`);
        }
        startComponent(world, call.manager, component, action);
        break;
      }
      default:
        throw new NsxError(400, 255, `Action ${action} is not simulated.`);
    }
    world.changed();
    return { status: 204 };
  });
}
