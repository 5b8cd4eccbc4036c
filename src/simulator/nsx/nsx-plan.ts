import type { SimulatorContext } from "../state/context";
import { NsxError } from "./nsx-error";
import type { NsxComponent, NsxManager } from "./nsx-state";
import { advanceNsx, findNodeFault, groupsOf, isActiveComponent, recordNsx, schedule } from "./nsx-timeline";

/** For how long the status of a component is still shown as it was when it is started, as a share of a host's time. */
const startLag = 0.02;
/** How long the pre-upgrade checks take, as a share of a host's time. */
const checkShare = 0.2;

/** The overall status, which lags behind those of the components. */
export function overallStatus({ components, lagsUntil = 0 }: NsxManager, now: number): string {
  const has = (status: NsxComponent["status"]) => components.some((component) => component.status === status);
  if (components.some(isActiveComponent) || now < lagsUntil) return "IN_PROGRESS";
  if (has("FAILED")) return "FAILED";
  const all = (status: NsxComponent["status"]) => components.every((component) => component.status === status);
  return all("SUCCESS") ? "SUCCESS" : all("NOT_STARTED") ? "NOT_STARTED" : "PAUSED";
}

/** Starts, continues or retries a component; `action` is how that was asked for. Throws NsxError where the coordinator would not. */
export function startComponent(
  context: SimulatorContext,
  manager: NsxManager,
  component: NsxComponent,
  action: string,
): void {
  const at = context.now();
  const groups = groupsOf(manager, component);
  const enabled = groups.filter((group) => group.enabled);
  // Nodes that an earlier run has passed over may be left although it ended well.
  if (component.status === "SUCCESS" && !enabled.some(({ units }) => units.some(isOld))) return;
  if (isActiveComponent(component)) throw new NsxError(400, 30011, `The upgrade of ${component.type} runs already.`);
  if (overallStatus(manager, at) === "IN_PROGRESS") {
    throw new NsxError(400, 30012, "The upgrade of another component has not come to its end yet.");
  }
  if (component.type === "FINALIZE_UPGRADE" && manager.groups.some(({ units }) => units.some(isOld))) {
    throw new NsxError(400, 30013, "Not every node is upgraded, so the upgrade cannot be finalized.");
  }
  if (groups.length > 0 && enabled.length === 0) {
    throw new NsxError(400, 30014, `No group of ${component.type} is enabled.`);
  }
  recordNsx(context, manager, { at, step: "NSX_UPGRADE_REQUESTED", detail: `${component.type} ${action}` });
  for (const unit of groups.flatMap(({ units }) => units)) {
    // A failed node is tried again; one that is still in maintenance mode is passed over without a word.
    if (unit.status !== "FAILED") continue;
    unit.status = "NOT_STARTED";
    delete unit.failure;
    if (!unit.maintenance) delete unit.fault;
  }
  component.shown = { status: component.status, until: at + startLag * context.hostMilliseconds() };
  component.status = "IN_PROGRESS";
  schedule(context, manager, component, at);
  advanceNsx(context);
}

function isOld({ status }: { readonly status: string }): boolean {
  return status !== "SUCCESS";
}

/** Nodes in work are finished, no further one begins. */
export function pause(context: SimulatorContext, manager: NsxManager): void {
  recordNsx(context, manager, { at: context.now(), step: "NSX_PAUSE_REQUESTED" });
  for (const component of manager.components.filter(({ status }) => status === "IN_PROGRESS")) {
    // The finalization has no nodes between which it could pause.
    if (groupsOf(manager, component).length > 0) component.status = "PAUSING";
  }
}

/** Starts the pre-upgrade checks of these components; what they will find is settled now. */
export function startChecks(context: SimulatorContext, manager: NsxManager, components: readonly NsxComponent[]): void {
  const now = context.now();
  const endsAt = now + checkShare * context.hostMilliseconds();
  for (const component of components) {
    const failures = groupsOf(manager, component).flatMap((group) =>
      group.units.flatMap((unit) => {
        const fault = findNodeFault(context, "NSX_CHECK_FAILS", unit, now);
        if (!fault) return [];
        context.useFault(fault);
        const message = fault.message ?? `Node ${unit.name} has not enough free space for the upgrade.`;
        const warning = fault.warning === true ? { warning: true as const } : {};
        return [{ id: `${unit.id}-check`, message, node: unit.name, group: group.name, ...warning }];
      }),
    );
    component.checks = { startedAt: now, endsAt, failures };
  }
  recordNsx(context, manager, {
    at: now,
    step: "NSX_CHECKS_STARTED",
    detail: components.map(({ type }) => type).join(" "),
  });
}

/** Whether pre-upgrade checks of a component run. */
export function isChecking({ checks }: NsxComponent, now: number): boolean {
  return checks !== undefined && now < checks.endsAt;
}
