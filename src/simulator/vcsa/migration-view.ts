import type { World } from "../state/world";
import { localizable } from "../vlcm/localizable";
import { applianceOf, percentOf } from "./appliance";
import type { MigrationCheck, MigrationRun } from "./vcsa-state";

const service = "com.vmware.vcenter.lcm.deployment.migration_upgrade";
const text = (id: string, message: string) => localizable(`migration.${id}`, message);

function progressOf(migration: MigrationRun, now: number) {
  const resting = migration.status !== "RUNNING";
  const percent = resting && migration.status !== "FAILED" ? 100 : percentOf(migration, now);
  return { total: 100, completed: percent, message: text("progress", `${migration.state}: ${percent} %`) };
}

/** `GET …/migration-upgrade/status`; without a migration it says that nothing is pending. */
export function migrationStatus(world: World) {
  const { migration } = applianceOf(world);
  const now = world.now();
  const common = {
    subtasks: {},
    subtask_order: [],
    last_update_time: new Date(now).toISOString(),
    description: text("description", "Migration of the management server to a new appliance"),
  };
  if (!migration)
    return { ...common, status: "PENDING", cancelable: false, upgrade_info: { remaining_replication_data: 0 } };
  const { state, desired, status, failure, blocked } = migration;
  const failed = status === "FAILED" && failure;
  return {
    ...common,
    current_state: state,
    desired_state: desired,
    status: status === "RUNNING" && blocked ? "BLOCKED" : status,
    cancelable: !["SWITCHOVER", "UPGRADED", "CANCELING", "CANCELED"].includes(state),
    progress: progressOf(migration, now),
    start_time: new Date(migration.startedAt).toISOString(),
    ...(status !== "RUNNING" && { end_time: new Date(migration.endedAt ?? migration.startedAt).toISOString() }),
    ...(blocked && {
      notifications: {
        warnings: [{ id: "migration.blocked", message: text("blocked", "Somebody has to decide something first.") }],
      },
    }),
    ...(failed && {
      error: { error_type: "ERROR", messages: [text(failed.id ?? "failed", failed.message)] },
      notifications: { errors: [{ id: "migration.failed", message: text(failed.id ?? "failed", failed.message) }] },
    }),
    upgrade_info: {
      upgrade_to: migration.version,
      remaining_replication_data: 0,
      identifier: migration.id,
      ...(migration.pause && { pause: "BEFORE_SWITCHOVER" }),
      ...(migration.startSwitchover !== undefined && {
        start_switchover: new Date(migration.startSwitchover).toISOString(),
      }),
    },
  };
}

/** `GET …/migration-upgrade`; the product does not tell the password again. */
export function migrationSpec({ version, network }: MigrationRun) {
  return {
    version,
    deployment: { appliance: { root_password: "", ...(network && { network_settings: network }) } },
  };
}

/** A migration's check as `cis/tasks` shows it. */
function checkTask({ user, startedAt, endsAt, issues }: MigrationCheck, now: number) {
  const ended = now >= endsAt;
  const percent = ended ? 100 : Math.floor((100 * (now - startedAt)) / (endsAt - startedAt));
  const errors = issues.map((issue) => ({ id: "migration.check", message: text("issue", issue) }));
  const result = {
    details: [
      { id: "appliance", state: "EXECUTED", notifications: errors.length > 0 ? { errors } : {} },
      { id: "host_profile", state: "SKIPPED" },
    ],
  };
  return {
    description: text("check", "Check the migration of the management server"),
    service,
    operation: "check$task",
    status: ended ? "SUCCEEDED" : "RUNNING",
    cancelable: false,
    user,
    start_time: new Date(startedAt).toISOString(),
    progress: { total: 100, completed: percent, message: text("check", `Check: ${percent} %`) },
    ...(ended && { end_time: new Date(endsAt).toISOString(), result }),
  };
}

/** The task of a migration's check; undefined where the id is none. */
export function findCheckTask(world: World, id: string | undefined) {
  const check = applianceOf(world).checks.find((known) => known.id === id);
  return check && checkTask(check, world.now());
}
