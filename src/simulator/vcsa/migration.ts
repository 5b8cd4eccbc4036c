import { randomUUID } from "node:crypto";
import type { SimulatorContext } from "../state/context";
import { invalidArgument, localizable, VapiError } from "../vlcm/vapi-error";
import {
  applianceOf,
  isAddressUsed,
  note,
  offeredUpdates,
  percentOf,
  planAbsence,
  planPhase,
  takeFault,
} from "./appliance";
import { isMigrationRunning, issuesOf, refuseWhileBusy } from "./update";
import type { MigrationCheck, MigrationRun, MigrationState, NetworkSettings, VcsaState } from "./vcsa-state";

/** How long each state with work in it takes, as a share of a host's remediation. */
const shares = { INITIALIZING: 0.1, STAGING: 0.5, PREPARING: 1, SWITCHOVER: 1, CANCELING: 0.3 };
type WorkingState = keyof typeof shares;
const checkShare = 0.2;

/** When a switchover takes the API away, as shares of its time. */
const absentDuringSwitchover = [0.1, 0.9] as const;

/** What a migration is to do, without the password. */
export interface MigrationWish {
  readonly version: string;
  readonly network?: NetworkSettings;
}

const notNow = (message: string) => new VapiError("NOT_ALLOWED_IN_CURRENT_STATE", "migration.not_allowed", message);

/** Whether nothing of a migration is done that another specification would make useless. */
function canStartAgain({ migration }: VcsaState): boolean {
  return (
    migration === undefined ||
    ["INITIALIZED", "UPGRADED", "CANCELED"].includes(migration.state) ||
    (migration.status === "FAILED" && migration.state !== "SWITCHOVER")
  );
}

/** Takes a specification and begins to look at it. */
export function initMigration(context: SimulatorContext, wish: MigrationWish): void {
  const appliance = refuseWhileBusy(context, { migrationMayRun: true });
  if (!canStartAgain(appliance)) throw notNow("A migration is in progress.");
  if (!offeredUpdates(context).some(({ version }) => version === wish.version))
    throw invalidArgument([`version: ${wish.version} is not offered`]);
  const now = context.now();
  appliance.migration = {
    id: randomUUID(),
    version: wish.version,
    state: "INITIALIZING",
    desired: "INITIALIZED",
    status: "RUNNING",
    pause: false,
    ...(wish.network && { network: wish.network }),
    ...planPhase(context, "INITIALIZING", now, shares.INITIALIZING),
  };
  note(context, "MGMT_MIGRATION_SET", now, JSON.stringify(wish));
  context.changed();
}

/** Goes on with a migration: to the switchover, or through it; a failed one goes on where it failed. */
export function applyMigration(
  context: SimulatorContext,
  { pause, startSwitchover }: { pause: boolean; startSwitchover?: number },
) {
  const appliance = refuseWhileBusy(context, { migrationMayRun: true });
  const { migration } = appliance;
  if (!migration || !isMigrationRunning(appliance)) throw notNow("There is no migration that could go on.");
  if (["INITIALIZING", "CANCELING", "SWITCHOVER"].includes(migration.state))
    throw notNow(`The migration is ${migration.state}.`);
  const now = context.now();
  migration.pause = pause;
  migration.desired = pause ? "PREPARED" : "UPGRADED";
  delete migration.startSwitchover;
  if (startSwitchover !== undefined) migration.startSwitchover = startSwitchover;
  const how = pause ? "pause BEFORE_SWITCHOVER" : startSwitchover === undefined ? "" : "start_switchover";
  note(context, "MGMT_MIGRATION_APPLIED", now, `${migration.state} ${how}`.trim());
  if (migration.status === "FAILED")
    enter(context, migration, migration.state === "PREPARING" ? "PREPARING" : "STAGING", now);
  else if (migration.state === "INITIALIZED") enter(context, migration, "STAGING", now);
  context.changed();
}

/** Takes back everything that was prepared; impossible while the switchover goes on. */
export function cancelMigration(context: SimulatorContext): void {
  const appliance = applianceOf(context);
  const { migration } = appliance;
  const unstoppable = migration?.state === "SWITCHOVER" && migration.status !== "FAILED";
  if (!migration || !isMigrationRunning(appliance) || migration.state === "CANCELING" || unstoppable)
    throw notNow(migration ? `The migration is ${migration.state}.` : "There is no migration.");
  migration.desired = "CANCELED";
  enter(context, migration, "CANCELING", context.now());
  context.changed();
}

/** Begins to check whether a migration is possible; it may be asked for before there is one. */
export function startCheck(context: SimulatorContext, wish: MigrationWish, user: string): MigrationCheck {
  const appliance = refuseWhileBusy(context, { migrationMayRun: true });
  const now = context.now();
  const issues: string[] = [];
  if (!offeredUpdates(context).some(({ version }) => version === wish.version))
    issues.push(`Version ${wish.version} is not offered to this appliance.`);
  const address = wish.network?.ip;
  const clash = address !== undefined ? takeFault(context, ["MGMT_ADDRESS_CLASH"]) : undefined;
  if (address !== undefined && (clash || isAddressUsed(context, address)))
    issues.push(`The temporary address ${address} is in use by another machine.`);
  const failing = takeFault(context, ["MGMT_PRECHECK_FAILS"]);
  const warnings: string[] = [];
  const found = failing?.warning === true ? warnings : issues;
  if (failing) found.push(failing.message ?? "The cluster has not enough resources for the new appliance.");
  const check: MigrationCheck = {
    id: `${randomUUID()}:com.vmware.vcenter.lcm.deployment.migration_upgrade`,
    user,
    startedAt: now,
    endsAt: now + checkShare * context.hostMilliseconds(),
    issues,
    ...(warnings.length > 0 && { warnings }),
  };
  appliance.checks = [...appliance.checks.slice(-20), check];
  context.changed();
  return check;
}

/** Enters a state with work in it, and plans how that ends. */
function enter(context: SimulatorContext, migration: MigrationRun, state: WorkingState, at: number): void {
  delete migration.failure;
  delete migration.endedAt;
  delete migration.endsAt;
  delete migration.stopsAt;
  delete migration.blocked;
  const timing = planPhase(context, state, at, shares[state]);
  const failing =
    state === "CANCELING"
      ? undefined
      : takeFault(context, ["MGMT_MIGRATION_FAILS"], { state, byDefault: "PREPARING", at });
  Object.assign(migration, {
    state,
    status: "RUNNING",
    ...timing,
    ...(state === "SWITCHOVER" && planAbsence(context, timing, absentDuringSwitchover)),
    ...(failing && {
      failure: { kind: "FAILS", message: failing.message ?? `The migration failed while ${state}.`, fault: failing.id },
    }),
  });
  if (state === "SWITCHOVER") note(context, "MGMT_SWITCHOVER_STARTED", at, migration.version);
}

function rest(migration: MigrationRun, state: MigrationState, at: number): void {
  migration.state = state;
  migration.status = state === "CANCELED" ? "CANCELED" : "SUCCEEDED";
  migration.startedAt = at;
  migration.endedAt = at;
  delete migration.endsAt;
  delete migration.stopsAt;
}

/** Lets what was due happen to the migration; false where nothing was. */
export function advanceMigration(context: SimulatorContext, appliance: VcsaState, now: number): boolean {
  const { migration } = appliance;
  if (!migration) return false;
  if (migration.state === "PREPARED" && migration.status !== "FAILED" && !migration.pause) {
    const at = Math.max(migration.startedAt, migration.startSwitchover ?? 0);
    if (migration.desired !== "UPGRADED" || at > now) return false;
    // Asked for after it was prepared: it begins when it was asked for, which is now.
    enter(context, migration, "SWITCHOVER", migration.startSwitchover === undefined ? now : at);
    return true;
  }
  if (migration.status !== "RUNNING" || migration.endsAt === undefined || migration.endsAt > now) return false;
  const at = migration.endsAt;
  if (migration.failure) {
    migration.status = "FAILED";
    migration.endedAt = at;
    delete migration.endsAt;
    note(context, "MGMT_MIGRATION_FAILED", at, `${migration.state}: ${migration.failure.message}`);
    return true;
  }
  switch (migration.state) {
    case "INITIALIZING":
      rest(migration, "INITIALIZED", at);
      return true;
    case "STAGING":
      enter(context, migration, "PREPARING", at);
      return true;
    case "PREPARING":
      rest(migration, "PREPARED", at);
      note(context, "MGMT_PREPARED", at, migration.version);
      return true;
    case "SWITCHOVER":
      rest(migration, "UPGRADED", at);
      appliance.version = migration.version;
      delete appliance.staged;
      note(context, "MGMT_SWITCHED_OVER", at, migration.version);
      return true;
    case "CANCELING":
      rest(migration, "CANCELED", at);
      note(context, "MGMT_MIGRATION_CANCELLED", at, migration.version);
      return true;
    default:
      return false;
  }
}

const service = "com.vmware.vcenter.lcm.deployment.migration_upgrade";
const text = (id: string, message: string) => localizable(`migration.${id}`, message);

function progressOf(migration: MigrationRun, now: number) {
  const resting = migration.status !== "RUNNING";
  const percent = resting && migration.status !== "FAILED" ? 100 : percentOf(migration, now);
  return { total: 100, completed: percent, message: text("progress", `${migration.state}: ${percent} %`) };
}

/** `GET …/migration-upgrade/status`; without a migration it says that nothing is pending. */
export function migrationStatus(context: SimulatorContext) {
  const { migration } = applianceOf(context);
  const now = context.now();
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
function checkTask({ user, startedAt, endsAt, issues, warnings }: MigrationCheck, now: number) {
  const ended = now >= endsAt;
  const percent = ended ? 100 : Math.floor((100 * (now - startedAt)) / (endsAt - startedAt));
  const result = {
    details: [
      { id: "appliance", state: "EXECUTED", notifications: issuesOf(issues, warnings) },
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
export function findCheckTask(context: SimulatorContext, id: string | undefined) {
  const check = applianceOf(context).checks.find((known) => known.id === id);
  return check && checkTask(check, context.now());
}
