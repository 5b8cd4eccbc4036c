import type { World } from "../state/world";
import { type Localizable, localizable } from "../vlcm/localizable";
import { applianceOf, offeredUpdates, percentOf } from "./appliance";
import type { ApplianceUpdate } from "./vcsa-config";
import type { UpdateRun } from "./vcsa-state";

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
export function updateInfo(world: World) {
  const { update, version } = applianceOf(world);
  const state =
    update?.status === "RUNNING"
      ? update.kind === "stage"
        ? "STAGE_IN_PROGRESS"
        : "INSTALL_IN_PROGRESS"
      : update?.status === "ROLLING_BACK"
        ? "ROLLBACK_IN_PROGRESS"
        : update?.status === "FAILED" && update.kind === "install"
          ? "INSTALL_FAILED"
          : offeredUpdates(world).length > 0
            ? "UPDATES_PENDING"
            : "UP_TO_DATE";
  return {
    state,
    version,
    latest_query_time: new Date(world.now()).toISOString(),
    ...(update && { task: taskOf(update, world.now()) }),
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
export function precheckResult(world: World, issues: readonly string[], items: readonly string[]) {
  const now = world.now();
  const seconds = Math.ceil((1.5 * world.hostMilliseconds()) / 1000);
  return {
    check_time: new Date(now).toISOString(),
    estimated_time_to_install: seconds,
    estimated_time_to_rollback: seconds,
    reboot_required: true,
    issues: issuesOf(issues),
    questions: items.map((item) => ({
      data_item: item,
      text: text("question", `Value of ${item}`),
      description: text("question", `The installation needs ${item}.`),
      type: "PASSWORD",
    })),
  };
}

/** Issues as the notifications of an appliance. */
export function issuesOf(issues: readonly string[]) {
  return issues.length === 0
    ? {}
    : { errors: issues.map((issue) => ({ id: "com.vmware.appliance.issue", message: text("issue", issue) })) };
}

/** `GET /api/appliance/system/version`. */
export function versionInfo(world: World) {
  const { version } = applianceOf(world);
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
