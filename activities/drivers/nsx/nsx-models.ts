import * as t from "io-ts";
import { Legible } from "../../../src/domain/legible";

// Only the fields that are used; unknown ones are kept, because a group is put back as it was read. Statuses stay
// strings: an unknown one must read as "not finished" and never as an answer that is not understood.

export const UpgradeSummary = t.partial({
  system_version: t.string,
  target_version: t.string,
  upgrade_status: t.string,
  upgrade_coordinator_version: t.string,
  upgrade_coordinator_updated: t.boolean,
});
/** What the coordinator is there for: the version now, the one that it would bring, and its own. */
export type UpgradeSummary = t.TypeOf<typeof UpgradeSummary>;

const ComponentStatus = t.intersection([
  t.type({ component_type: t.string, status: t.string }),
  t.partial({
    percent_complete: t.number,
    details: t.string,
    target_component_version: t.string,
    pre_upgrade_status: t.partial({ status: t.string, failure_count: t.number, details: t.string }),
  }),
]);

/** Of all and of each component: SUCCESS, FAILED, IN_PROGRESS, NOT_STARTED, PAUSING or PAUSED. */
export const UpgradeStatus = t.type({
  overall_upgrade_status: t.string,
  component_status: t.array(ComponentStatus),
});
export type UpgradeStatus = t.TypeOf<typeof UpgradeStatus>;

export const PlanSettings = t.partial({
  parallel: t.boolean,
  pause_on_error: t.boolean,
  pause_after_each_group: t.boolean,
});
/** How the groups of a component are upgraded. */
export type PlanSettings = t.TypeOf<typeof PlanSettings>;

const KeyValue = t.partial({ key: t.string, value: t.string });
export type KeyValue = t.TypeOf<typeof KeyValue>;

const UpgradeUnit = t.intersection([
  t.type({ id: t.string }),
  t.partial({
    display_name: t.string,
    current_version: t.string,
    warnings: t.array(t.string),
    metadata: t.array(KeyValue),
  }),
]);
export type UpgradeUnit = t.TypeOf<typeof UpgradeUnit>;

export const UnitGroup = t.intersection([
  t.type({ id: t.string }),
  t.partial({
    display_name: t.string,
    type: t.string,
    parallel: t.boolean,
    enabled: t.boolean,
    pause_after_each_upgrade_unit: t.boolean,
    upgrade_unit_count: t.number,
    upgrade_units: t.array(UpgradeUnit),
    extended_configuration: t.array(KeyValue),
    _revision: t.number,
  }),
]);
/** A group of units with its place in the plan; `_revision` has to be the current one when it is put. */
export type UnitGroup = t.TypeOf<typeof UnitGroup>;

const GroupStatus = t.intersection([
  t.type({ group_id: t.string }),
  t.partial({ group_name: t.string, status: t.string, failed_count: t.number, percent_complete: t.number }),
]);
export type GroupStatus = t.TypeOf<typeof GroupStatus>;

const UnitStatus = t.intersection([
  t.type({ id: t.string }),
  t.partial({
    display_name: t.string,
    status: t.string,
    percent_complete: t.number,
    errors: t.array(t.string),
    metadata: t.array(KeyValue),
  }),
]);
export type UnitStatus = t.TypeOf<typeof UnitStatus>;

const CheckFailure = t.partial({
  type: t.string,
  message: t.partial({ message: Legible }),
  component_type: t.string,
  group_name: Legible,
  origin_name: Legible,
  needs_ack: t.boolean,
  acked: t.boolean,
});
/** What a pre-upgrade check objects to; a warning may have to be acknowledged before the upgrade may start. */
export type CheckFailure = t.TypeOf<typeof CheckFailure>;

/** One page of a list; `cursor` asks for the next and is absent or empty on the last. */
function pageOf<C extends t.Mixed>(element: C) {
  return t.intersection([t.type({}), t.partial({ results: t.array(element), cursor: t.string })]);
}
export const UnitGroups = pageOf(UnitGroup);
export const GroupStatuses = pageOf(GroupStatus);
export const UnitStatuses = pageOf(UnitStatus);
export const CheckFailures = pageOf(CheckFailure);

/** The backups that the manager remembers, those of all kinds; times in epoch milliseconds. */
export const BackupHistory = t.partial({
  cluster_backup_statuses: t.array(t.partial({ success: t.boolean, end_time: t.number })),
});

/** A certificate of the manager; `not_after` in epoch milliseconds, the leaf's first. */
const ManagerCertificate = t.partial({
  id: t.string,
  display_name: t.string,
  details: t.array(t.partial({ not_after: t.number })),
  used_by: t.array(t.unknown),
});
export type ManagerCertificate = t.TypeOf<typeof ManagerCertificate>;
export const ManagerCertificates = t.partial({ results: t.array(ManagerCertificate), cursor: t.string });

/** The node that answers: its time in epoch milliseconds, and its file systems in kilobytes. */
export const NodeStatus = t.partial({
  system_time: t.number,
  file_systems: t.array(t.partial({ mount: t.string, total: t.number, used: t.number })),
});
export type NodeStatus = t.TypeOf<typeof NodeStatus>;
