import type Router from "@koa/router";
import type { SimulatorConfig } from "../config/simulator-config";
import type { SimulatorContext } from "../state/context";
import { imageProblems } from "../state/image-extras";
import type { ClusterState, TaskState } from "../state/simulator-state";
import { cancelApply } from "../timeline/apply";
import { endedByRestart } from "../timeline/restart";
import { findCheckTask } from "../vcsa/migration";
import { applyProgress, applyResult, checkResult, hostInfo } from "./apply-result";
import { clusterCompliance } from "./compliance-view";
import { invalidArgument, localizable, notification, VapiError } from "./vapi-error";
import { type VlcmCall, withSession } from "./vlcm-calls";

interface Known {
  readonly cluster: ClusterState;
  readonly task: TaskState;
}

/** A target is written in a query as `ClusterComputeResource:domain-c8`, as JSON, or as the bare id. */
const namesCluster = (target: string, cluster: string) =>
  target === cluster || target.endsWith(`:${cluster}`) || target.includes(`"${cluster}"`);

/** The tasks of all clusters: listed, read and cancelled. Forgotten ones are unknown here, but go on. */
export function taskRoutes(router: Router, context: SimulatorContext): void {
  const calls = withSession(router, context);

  const knownTasks = (targets: readonly string[] | undefined): Known[] =>
    context.state.clusters
      .filter(({ id }) => targets?.some((target) => namesCluster(target, id)) ?? true)
      .flatMap((cluster) => cluster.tasks.filter(({ forgotten }) => !forgotten).map((task) => ({ cluster, task })));

  function taskOf({ params }: VlcmCall): Known {
    const { task: id = "" } = params;
    const cluster = context.hostIndex.clusterOfTask(id);
    const task = cluster?.tasks.find((known) => known.id === id && !known.forgotten);
    if (!cluster || !task) throw new VapiError("NOT_FOUND", "task.not_found", `There is no task ${id}.`);
    return { cluster, task };
  }

  calls.get("/cis/tasks", ({ query }) => {
    const filter = (name: string) => (query.has(name) ? query.getAll(name) : undefined);
    const [tasks, services, operations] = [filter("tasks"), filter("services"), filter("operations")];
    const [targets, status, users] = [filter("targets"), filter("status"), filter("users")];
    if (!tasks && !services) throw invalidArgument(["tasks, services: one of them is required"]);
    const now = context.now();
    const found = knownTasks(targets)
      .filter(({ task }) => (tasks?.includes(task.id) ?? true) && (services?.includes(serviceOf(task.kind)) ?? true))
      .filter(({ task }) => (operations?.includes(`${task.kind}$task`) ?? true) && (users?.includes(task.user) ?? true))
      .filter(({ task }) => status?.includes(taskStatus(task, now)) ?? true);
    const withResult = query.get("exclude_result") !== "true";
    const infos = found.map(
      ({ cluster, task }) => [task.id, taskInfo(context.config, cluster, task, now, withResult)] as const,
    );
    return { status: 200, body: Object.fromEntries(infos) };
  });

  calls.get("/cis/tasks/:task", (call) => {
    const check = findCheckTask(context, call.params["task"]);
    if (check) return { status: 200, body: check };
    const { cluster, task } = taskOf(call);
    const withResult = call.query.get("exclude_result") !== "true";
    return { status: 200, body: taskInfo(context.config, cluster, task, context.now(), withResult) };
  });

  calls.post("/cis/tasks/:task", (call) => {
    if ((call.query.get("action") ?? "cancel") !== "cancel")
      throw new VapiError("NOT_FOUND", "operation.not_found", "There is no such operation on a task.");
    const { cluster, task } = taskOf(call);
    if (task.status !== "OPEN")
      throw new VapiError("NOT_ALLOWED_IN_CURRENT_STATE", "task.ended", "The task has already ended.");
    if (task.kind !== "apply")
      throw new VapiError("UNSUPPORTED", "task.not_cancelable", "The task cannot be cancelled.");
    if (isCancelable(task)) cancelApply(context, cluster, task, context.now());
    context.changed(cluster);
    return { status: 204 };
  });
}

const software = "com.vmware.esx.settings.clusters.software";

/** The vAPI service and operation of each kind of task, and what the task is called. */
const identities: Record<TaskState["kind"], { service: string; operation: string; description: string }> = {
  scan: { service: software, operation: "scan$task", description: "Check compliance of cluster with image" },
  check: { service: software, operation: "check$task", description: "Run health checks on cluster" },
  stage: { service: software, operation: "stage$task", description: "Stage image on cluster" },
  apply: { service: software, operation: "apply$task", description: "Remediate cluster" },
  validate: { service: `${software}.drafts`, operation: "validate$task", description: "Validate image draft" },
  commit: { service: `${software}.drafts`, operation: "commit$task", description: "Set desired image of cluster" },
};

/** The service that a kind of task belongs to, by which tasks are listed. */
const serviceOf = (kind: TaskState["kind"]) => identities[kind].service;

/** Status as the API shows it at a moment (epoch milliseconds). */
function taskStatus(task: TaskState, now: number): "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED" {
  if (task.status !== "OPEN") return task.status;
  return now < task.startsAt ? "PENDING" : "RUNNING";
}

function validationResult(config: SimulatorConfig, task: TaskState) {
  const { version = "", extras } = task;
  const problems = imageProblems(config, { version, ...(extras && { extras }) });
  const at = task.endedAt ?? task.createdAt;
  return problems.length === 0
    ? { info: [notification("INFO", { id: "draft.valid", message: "The image draft is valid.", at })] }
    : {
        errors: problems.map((message) => notification("ERROR", { id: "draft.invalid", message, at })),
      };
}

function stageResult(cluster: ClusterState, task: TaskState) {
  const hosts = task.hosts ?? cluster.hosts.map(({ id }) => id);
  const times = {
    start_time: new Date(task.createdAt).toISOString(),
    end_time: new Date(task.endedAt ?? task.createdAt).toISOString(),
  };
  const status = { status: "OK", ...times, notifications: {} };
  return {
    status,
    commit: task.commit ?? "",
    host_info: hostInfo(cluster, hosts),
    host_status: Object.fromEntries(hosts.map((host) => [host, status])),
    successful_hosts: hosts,
    failed_hosts: [],
    skipped_hosts: [],
  };
}

/**
 * What a task answers. That of a commit is the bare commit id in the product, which the contract's type of a task
 * result (an object) has no room for; so it is left out, and read from the compliance instead (docs/simulator.md).
 */
function resultOf(config: SimulatorConfig, cluster: ClusterState, task: TaskState, now: number): object | undefined {
  if (task.kind === "apply")
    return now < task.startsAt && task.status === "OPEN" ? undefined : applyResult(cluster, task, now);
  if (task.status !== "SUCCEEDED") return undefined;
  switch (task.kind) {
    case "scan":
      return task.scan && clusterCompliance(config, cluster, task.scan);
    case "check":
      return task.check && checkResult(cluster, task.check);
    case "stage":
      return stageResult(cluster, task);
    case "validate":
      return validationResult(config, task);
    case "commit":
      return undefined;
  }
}

function errorOf(task: TaskState) {
  if (task.status !== "FAILED") return undefined;
  if (task.endedByRestart)
    return { error_type: "ERROR", messages: [localizable(endedByRestart.id, endedByRestart.message)] };
  if (task.cancelledAt !== undefined)
    return { error_type: "CANCELED", messages: [localizable("task.cancelled", "The task was cancelled.")] };
  // What a remediation failed of is in its result only, as clients must expect.
  if (task.kind === "apply") return undefined;
  return { error_type: "ERROR", messages: [localizable("task.failed", "The draft is gone.")] };
}

function progressOf(task: TaskState, now: number): { percent: number; message: string } {
  const { description } = identities[task.kind];
  if (task.status === "SUCCEEDED") return { percent: 100, message: `${description}: finished.` };
  if (task.kind === "apply") return applyProgress(task, task.endedAt ?? now);
  const end = task.events[0]?.at ?? now;
  const percent = end > task.startsAt ? Math.floor((100 * (now - task.startsAt)) / (end - task.startsAt)) : 100;
  return { percent: Math.min(Math.max(percent, 0), 100), message: `${description}: under way.` };
}

/** Whether a task can be cancelled now: a remediation that has not ended and was not cancelled before. */
function isCancelable(task: TaskState): boolean {
  return task.kind === "apply" && task.status === "OPEN" && task.cancelledAt === undefined;
}

/** A task as `cis/tasks` shows it at a moment (epoch milliseconds). */
function taskInfo(config: SimulatorConfig, cluster: ClusterState, task: TaskState, now: number, withResult = true) {
  const { service, operation, description } = identities[task.kind];
  const status = taskStatus(task, now);
  const { percent, message } = progressOf(task, now);
  const result = withResult ? resultOf(config, cluster, task, now) : undefined;
  const error = errorOf(task);
  return {
    description: localizable(`task.${task.kind}`, description, cluster.name),
    service,
    operation,
    status,
    cancelable: isCancelable(task),
    target: { type: "ClusterComputeResource", id: cluster.id },
    user: task.user,
    ...(status !== "PENDING" && {
      start_time: new Date(Math.min(task.startsAt, task.endedAt ?? task.startsAt)).toISOString(),
      progress: { total: 100, completed: percent, message: localizable(`task.${task.kind}.progress`, message) },
    }),
    ...(task.endedAt !== undefined && { end_time: new Date(task.endedAt).toISOString() }),
    ...(result && { result }),
    ...(error && { error }),
  };
}
