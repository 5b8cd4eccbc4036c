import type Router from "@koa/router";
import type { ClusterState, TaskState } from "../state/simulator-state";
import type { World } from "../state/world";
import { cancelApply } from "../timeline/apply";
import { findCheckTask } from "../vcsa/migration-view";
import { isCancelable, serviceOf, taskInfo, taskStatus } from "./task-info";
import { invalidArgument, VapiError } from "./vapi-error";
import { withSession, type VlcmCall } from "./vlcm-calls";

interface Known {
  readonly cluster: ClusterState;
  readonly task: TaskState;
}

/** A target is written in a query as `ClusterComputeResource:domain-c8`, as JSON, or as the bare id. */
const namesCluster = (target: string, cluster: string) =>
  target === cluster || target.endsWith(`:${cluster}`) || target.includes(`"${cluster}"`);

/** The tasks of all clusters: listed, read and cancelled. Forgotten ones are unknown here, but go on. */
export function taskRoutes(router: Router, world: World): void {
  const calls = withSession(router, world);

  const knownTasks = (targets: readonly string[] | undefined): Known[] =>
    world.state.clusters
      .filter(({ id }) => targets?.some((target) => namesCluster(target, id)) ?? true)
      .flatMap((cluster) => cluster.tasks.filter(({ forgotten }) => !forgotten).map((task) => ({ cluster, task })));

  function taskOf({ params }: VlcmCall): Known {
    const { task: id = "" } = params;
    const cluster = world.whereabouts.clusterOfTask(id);
    const task = cluster?.tasks.find((known) => known.id === id && !known.forgotten);
    if (!cluster || !task) throw new VapiError("NOT_FOUND", "task.not_found", `There is no task ${id}.`);
    return { cluster, task };
  }

  calls.get("/cis/tasks", ({ query }) => {
    const filter = (name: string) => (query.has(name) ? query.getAll(name) : undefined);
    const [tasks, services, operations] = [filter("tasks"), filter("services"), filter("operations")];
    const [targets, status, users] = [filter("targets"), filter("status"), filter("users")];
    if (!tasks && !services) throw invalidArgument(["tasks, services: one of them is required"]);
    const now = world.now();
    const found = knownTasks(targets)
      .filter(({ task }) => (tasks?.includes(task.id) ?? true) && (services?.includes(serviceOf(task.kind)) ?? true))
      .filter(({ task }) => (operations?.includes(`${task.kind}$task`) ?? true) && (users?.includes(task.user) ?? true))
      .filter(({ task }) => status?.includes(taskStatus(task, now)) ?? true);
    const withResult = query.get("exclude_result") !== "true";
    const infos = found.map(
      ({ cluster, task }) => [task.id, taskInfo(world.config, cluster, task, now, withResult)] as const,
    );
    return { status: 200, body: Object.fromEntries(infos) };
  });

  calls.get("/cis/tasks/:task", (call) => {
    const check = findCheckTask(world, call.params["task"]);
    if (check) return { status: 200, body: check };
    const { cluster, task } = taskOf(call);
    const withResult = call.query.get("exclude_result") !== "true";
    return { status: 200, body: taskInfo(world.config, cluster, task, world.now(), withResult) };
  });

  calls.post("/cis/tasks/:task", (call) => {
    if ((call.query.get("action") ?? "cancel") !== "cancel")
      throw new VapiError("NOT_FOUND", "operation.not_found", "There is no such operation on a task.");
    const { cluster, task } = taskOf(call);
    if (task.status !== "OPEN")
      throw new VapiError("NOT_ALLOWED_IN_CURRENT_STATE", "task.ended", "The task has ended already.");
    if (task.kind !== "apply")
      throw new VapiError("UNSUPPORTED", "task.not_cancelable", "The task cannot be cancelled.");
    if (isCancelable(task)) cancelApply(world, cluster, task, world.now());
    world.changed(cluster);
    return { status: 204 };
  });
}
