import { isChecking, overallStatus } from "./nsx-plan";
import type { NsxComponent, NsxGroup, NsxManager, NsxUnit } from "./nsx-state";
import { groupsOf, percentOf } from "./nsx-timeline";

/** Status of a component as it is shown, which lags a little after a start. */
function shownStatus({ status, shown }: NsxComponent, now: number): string {
  return shown && now < shown.until ? shown.status : status;
}

function unitsOf(manager: NsxManager, component: NsxComponent): NsxUnit[] {
  return groupsOf(manager, component).flatMap(({ units }) => units);
}

function averagePercent(units: readonly NsxUnit[], now: number): number {
  if (units.length === 0) return 0;
  return Math.round(units.reduce((sum, unit) => sum + percentOf(unit, now), 0) / units.length);
}

export function summaryView(manager: NsxManager, now: number) {
  const { version, targetVersion, coordinatorVersion, components } = manager;
  return {
    system_version: version,
    target_version: targetVersion,
    upgrade_status: overallStatus(manager, now),
    upgrade_coordinator_version: coordinatorVersion,
    upgrade_coordinator_updated: true,
    component_target_versions: components.map(({ type }) => ({ component_type: type, target_version: targetVersion })),
  };
}

function componentView(manager: NsxManager, component: NsxComponent, now: number) {
  const units = unitsOf(manager, component);
  const failed = units.filter(({ status }) => status === "FAILED");
  const { checks } = component;
  const done = component.status === "SUCCESS";
  return {
    component_type: component.type,
    status: shownStatus(component, now),
    percent_complete: units.length === 0 ? (done ? 100 : 0) : averagePercent(units, now),
    details: failed.length > 0 ? `${failed.length} of ${units.length} nodes failed.` : "",
    can_skip: false,
    target_component_version: manager.targetVersion,
    node_count_at_target_version: units.filter(({ version }) => version === manager.targetVersion).length,
    pre_upgrade_status: checks
      ? {
          status: isChecking(component, now) ? "IN_PROGRESS" : "COMPLETED",
          failure_count: isChecking(component, now) ? 0 : checks.failures.length,
          node_with_issues_count: isChecking(component, now) ? 0 : checks.failures.length,
          start_time: checks.startedAt,
          ...(!isChecking(component, now) && { end_time: checks.endsAt }),
        }
      : { status: "NOT_STARTED", failure_count: 0 },
  };
}

/** `wanted`: the components that are asked for. */
export function statusView(manager: NsxManager, wanted: readonly NsxComponent[], now: number) {
  return {
    overall_upgrade_status: overallStatus(manager, now),
    component_status: wanted.map((component) => componentView(manager, component, now)),
  };
}

export function settingsView({ parallel, pauseOnError, pauseAfterEachGroup }: NsxComponent) {
  return { parallel, pause_on_error: pauseOnError, pause_after_each_group: pauseAfterEachGroup };
}

function unitView(group: NsxGroup, { id, name, version, maintenance }: NsxUnit) {
  return {
    id,
    display_name: name,
    type: group.type,
    current_version: version,
    group: { id: group.id, display_name: group.name },
    warnings: maintenance ? [`Node ${name} is in NSX maintenance mode and is skipped by upgrades.`] : [],
    metadata: [{ key: "maintenance_mode", value: maintenance ? "ENABLED" : "DISABLED" }],
  };
}

/** `summary`: without the nodes. */
export function groupView(group: NsxGroup, summary = false) {
  return {
    id: group.id,
    display_name: group.name,
    resource_type: "UpgradeUnitGroup",
    type: group.type,
    parallel: group.parallel,
    enabled: group.enabled,
    pause_after_each_upgrade_unit: group.pauseAfterEachUnit,
    upgrade_unit_count: group.units.length,
    ...(!summary && { upgrade_units: group.units.map((unit) => unitView(group, unit)) }),
    extended_configuration: group.extendedConfiguration,
    _revision: group.revision,
  };
}

export function groupStatusView(group: NsxGroup, now: number) {
  const { id, name, units, enabled } = group;
  const has = (status: NsxUnit["status"]) => units.some((unit) => unit.status === status);
  const status = has("IN_PROGRESS")
    ? "IN_PROGRESS"
    : has("FAILED")
      ? "FAILED"
      : !has("NOT_STARTED")
        ? "SUCCESS"
        : has("SUCCESS") || !enabled
          ? "PAUSED"
          : "NOT_STARTED";
  return {
    group_id: id,
    group_name: name,
    upgrade_unit_count: units.length,
    status,
    failed_count: units.filter((unit) => unit.status === "FAILED").length,
    percent_complete: averagePercent(units, now),
  };
}

export function unitStatusView(unit: NsxUnit, now: number) {
  const { id, name, status, failure } = unit;
  return {
    id,
    display_name: name,
    status,
    percent_complete: percentOf(unit, now),
    errors: status === "FAILED" && failure !== undefined ? [failure] : [],
    metadata: [{ key: "maintenance_mode", value: unit.maintenance ? "ENABLED" : "DISABLED" }],
  };
}

/** What the pre-upgrade checks of components found, of those that have ended. */
export function checkFailures(components: readonly NsxComponent[], now: number) {
  return components
    .filter((component) => !isChecking(component, now))
    .flatMap(({ type, checks }) =>
      (checks?.failures ?? []).map(({ id, message, node, group, warning }) => ({
        id,
        type: warning ? "WARNING" : "FAILURE",
        message: { message },
        component_type: type,
        needs_ack: false,
        acked: false,
        needs_resolve: false,
        ...(node !== undefined && { origin_name: node, origin_type: type }),
        ...(group !== undefined && { group_name: group }),
      })),
    );
}
