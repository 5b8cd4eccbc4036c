import type { SimulatorContext } from "../state/context";
import { endedByRestart } from "../timeline/restart";
import { type Localizable, localizable, VapiError } from "../vlcm/vapi-error";
import { applianceOf, note, offeredUpdates, percentOf, planAbsence, planPhase, takeFault } from "./appliance";
import type { ApplianceUpdate, UpdateRun, VcsaState } from "./vcsa-state";

/** How long each takes, as a share of a host's remediation. */
const shares = { stage: 0.6, install: 1.5, rollback: 0.5 };

/** When an installation takes the API away, as shares of its time. */
const absentDuringInstall = [0.3, 0.8] as const;

/** Migrations in these states touch nothing any more, and do not stand in the way of an update. */
const restingStates: ReadonlySet<string> = new Set(["UPGRADED", "CANCELED"]);

function isUpdateRunning({ update }: VcsaState): boolean {
  return update?.status === "RUNNING" || update?.status === "ROLLING_BACK";
}

export function isMigrationRunning({ migration }: VcsaState): boolean {
  return migration !== undefined && !restingStates.has(migration.state);
}

/** The product allows one update or migration at a time. */
export function refuseWhileBusy(context: SimulatorContext, { migrationMayRun = false } = {}): VcsaState {
  const appliance = applianceOf(context);
  const busy = takeFault(context, ["MGMT_BUSY"]);
  if (busy || isUpdateRunning(appliance) || (!migrationMayRun && isMigrationRunning(appliance)))
    throw new VapiError(
      "NOT_ALLOWED_IN_CURRENT_STATE",
      "appliance.operation_in_progress",
      "Another update or migration of the appliance is in progress.",
    );
  return appliance;
}

/** Begins to download an update. */
export function startStage(context: SimulatorContext, version: string): void {
  const appliance = refuseWhileBusy(context);
  refuseAfterFailure(appliance);
  if (appliance.staged?.complete && appliance.staged.version === version)
    throw new VapiError("ALREADY_IN_DESIRED_STATE", "update.staged", `Update ${version} is staged already.`);
  const now = context.now();
  const failing = takeFault(context, ["MGMT_STAGING_FAILS"]);
  appliance.staged = { version, complete: false };
  appliance.update = {
    kind: "stage",
    version,
    status: "RUNNING",
    ...planPhase(context, "STAGE_IN_PROGRESS", now, shares.stage),
    ...(failing && {
      failure: {
        kind: "FAILS",
        message: failing.message ?? "The update could not be downloaded: the repository does not answer.",
        fault: failing.id,
      },
    }),
  };
  note(context, "MGMT_STAGE_REQUESTED", now, version);
  context.changed();
}

/** Begins to install the staged update. */
export function startInstall(context: SimulatorContext, version: string): void {
  const appliance = refuseWhileBusy(context);
  refuseAfterFailure(appliance);
  if (!appliance.staged?.complete || appliance.staged.version !== version)
    throw new VapiError("NOT_ALLOWED_IN_CURRENT_STATE", "update.not_staged", `Update ${version} is not staged.`);
  const now = context.now();
  const failing = takeFault(context, ["MGMT_INSTALL_FAILS", "MGMT_INSTALL_ROLLS_BACK", "MGMT_INSTALL_INTERRUPTED"]);
  const timing = planPhase(context, "INSTALL_IN_PROGRESS", now, shares.install);
  appliance.update = {
    kind: "install",
    version,
    status: "RUNNING",
    ...timing,
    ...planAbsence(context, timing, absentDuringInstall),
    ...(failing && {
      failure:
        failing.kind === "MGMT_INSTALL_INTERRUPTED"
          ? { kind: "INTERRUPTED", ...endedByRestart, fault: failing.id }
          : {
              kind: failing.kind === "MGMT_INSTALL_FAILS" ? "FAILS" : "ROLLS_BACK",
              message: failing.message ?? "The conversion of the database failed. The appliance cannot recover.",
              fault: failing.id,
            },
    }),
  };
  note(context, "MGMT_INSTALL_REQUESTED", now, version);
  context.changed();
}

/** Ends a staging; an installation cannot be cancelled. */
export function cancelUpdate(context: SimulatorContext): void {
  const appliance = applianceOf(context);
  const { update } = appliance;
  if (update?.kind !== "stage" || update.status !== "RUNNING")
    throw new VapiError("NOT_ALLOWED_IN_CURRENT_STATE", "update.not_cancelable", "No update is being staged.");
  update.status = "CANCELLED";
  update.endedAt = context.now();
  delete appliance.staged;
  note(context, "MGMT_STAGING_CANCELLED", context.now(), update.version);
  context.changed();
}

/** Lets what was due happen to the update; false where nothing was. */
export function advanceUpdate(context: SimulatorContext, appliance: VcsaState, now: number): boolean {
  const { update } = appliance;
  if (!update || !isUpdateRunning(appliance) || update.endsAt === undefined || update.endsAt > now) return false;
  const at = update.endsAt;
  if (update.status === "ROLLING_BACK") {
    endUpdate(update, "ROLLED_BACK", at);
    note(context, "MGMT_ROLLED_BACK", at, appliance.version);
  } else if (update.failure?.kind === "ROLLS_BACK") {
    update.status = "ROLLING_BACK";
    update.endsAt = at + shares.rollback * context.hostMilliseconds();
    delete appliance.staged;
  } else if (update.failure?.kind === "INTERRUPTED") {
    // Before it has changed anything: what was staged is there still.
    endUpdate(update, "INTERRUPTED", at);
    note(context, "MGMT_INSTALL_INTERRUPTED", at, update.failure.message);
  } else if (update.failure) {
    endUpdate(update, "FAILED", at);
    delete appliance.staged;
    note(context, update.kind === "stage" ? "MGMT_STAGING_FAILED" : "MGMT_INSTALL_FAILED", at, update.failure.message);
  } else if (update.kind === "stage") {
    endUpdate(update, "SUCCEEDED", at);
    appliance.staged = { version: update.version, complete: true };
    note(context, "MGMT_STAGED", at, update.version);
  } else {
    endUpdate(update, "SUCCEEDED", at);
    appliance.version = update.version;
    delete appliance.staged;
    note(context, "MGMT_INSTALLED", at, update.version);
  }
  return true;
}

function endUpdate(update: UpdateRun, status: UpdateRun["status"], at: number): void {
  update.status = status;
  update.endedAt = at;
}

function refuseAfterFailure({ update }: VcsaState): void {
  if (update?.kind === "install" && update.status === "FAILED")
    throw new VapiError(
      "NOT_ALLOWED_IN_CURRENT_STATE",
      "update.install_failed",
      "An installation has failed and the appliance cannot recover.",
    );
}

const service = "com.vmware.appliance.update";
const noRelease = "2025-01-01T00:00:00.000Z";

const text = (id: string, message: string): Localizable => localizable(`appliance.${id}`, message);

const descriptions: Record<UpdateRun["kind"], string> = { stage: "Stage update", install: "Install update" };

function statusOf({ status, blocked }: UpdateRun): "RUNNING" | "BLOCKED" | "SUCCEEDED" | "FAILED" {
  if (status === "SUCCEEDED") return "SUCCEEDED";
  if (status !== "RUNNING" && status !== "ROLLING_BACK") return "FAILED";
  return blocked ? "BLOCKED" : "RUNNING";
}

function errorOf({ status, failure }: UpdateRun) {
  if (status === "CANCELLED")
    return { error_type: "CANCELED", messages: [text("cancelled", "The update was cancelled.")] };
  if (status === "RUNNING" || status === "SUCCEEDED" || !failure) return undefined;
  return { error_type: "ERROR", messages: [text(failure.id ?? "failed", failure.message)] };
}

function taskOf(update: UpdateRun, now: number) {
  const description = text(update.kind, descriptions[update.kind]);
  const percent = update.status === "SUCCEEDED" ? 100 : percentOf(update, update.endedAt ?? now);
  const error = errorOf(update);
  return {
    progress: {
      total: 100,
      completed: percent,
      message: text("progress", `${descriptions[update.kind]}: ${percent} %`),
    },
    subtask_order: [],
    subtasks: {},
    ...(update.status === "ROLLING_BACK" && { auto_rollback_state: "ROLLBACK_IN_PROGRESS" }),
    ...(update.status === "ROLLED_BACK" && { auto_rollback_state: "ROLLBACK_SUCCEEDED" }),
    description,
    service,
    operation: update.kind,
    status: statusOf(update),
    cancelable: update.kind === "stage" && update.status === "RUNNING",
    start_time: new Date(update.startedAt).toISOString(),
    ...(update.endedAt !== undefined && { end_time: new Date(update.endedAt).toISOString() }),
    ...(error && { error }),
  };
}

/** `GET /api/appliance/update`. */
export function updateInfo(context: SimulatorContext) {
  const { update, version } = applianceOf(context);
  const state =
    update?.status === "RUNNING"
      ? update.kind === "stage"
        ? "STAGE_IN_PROGRESS"
        : "INSTALL_IN_PROGRESS"
      : update?.status === "ROLLING_BACK"
        ? "ROLLBACK_IN_PROGRESS"
        : update?.status === "FAILED" && update.kind === "install"
          ? "INSTALL_FAILED"
          : offeredUpdates(context).length > 0
            ? "UPDATES_PENDING"
            : "UP_TO_DATE";
  return {
    state,
    version,
    latest_query_time: new Date(context.now()).toISOString(),
    ...(update && { task: taskOf(update, context.now()) }),
  };
}

/** An update as lists show it. */
export function updateSummary({ version, name, releaseDate, severity }: ApplianceUpdate) {
  return {
    version,
    name: name ?? `Management server ${version}`,
    description: text("update", `Update of the management server to ${version}`),
    priority: severity === "CRITICAL" ? "HIGH" : "MEDIUM",
    severity: severity ?? "IMPORTANT",
    update_type: "UPDATE",
    release_date: releaseDate ?? noRelease,
    reboot_required: true,
    size: 8192,
  };
}

/** What is said before an installation: issues, and questions that it must be given the answers to. */
export function precheckResult(
  context: SimulatorContext,
  { issues, items, warnings }: Record<"issues" | "items" | "warnings", readonly string[]>,
) {
  const now = context.now();
  const seconds = Math.ceil((1.5 * context.hostMilliseconds()) / 1000);
  return {
    check_time: new Date(now).toISOString(),
    estimated_time_to_install: seconds,
    estimated_time_to_rollback: seconds,
    reboot_required: true,
    issues: issuesOf(issues, warnings),
    questions: items.map((item) => ({
      data_item: item,
      text: text("question", `Value of ${item}`),
      description: text("question", `The installation needs ${item}.`),
      type: "PASSWORD",
    })),
  };
}

/** Issues as the notifications of an appliance. */
export function issuesOf(errors: readonly string[], warnings: readonly string[] = []) {
  const toldAs = (issue: string) => ({ id: "com.vmware.appliance.issue", message: text("issue", issue) });
  return {
    ...(errors.length > 0 && { errors: errors.map(toldAs) }),
    ...(warnings.length > 0 && { warnings: warnings.map(toldAs) }),
  };
}

/** `GET /api/appliance/system/version`. */
export function versionInfo(context: SimulatorContext) {
  const { version } = applianceOf(context);
  return {
    version,
    product: "Management server",
    build: version.replace(/\D/g, "").padEnd(8, "0"),
    type: "Management server with an embedded platform services controller",
    summary: `Management server ${version}`,
    releasedate: noRelease,
    install_time: noRelease,
  };
}
