import { randomUUID } from "node:crypto";
import type { SimulatorContext } from "../state/context";
import { hasImage } from "../state/image-extras";
import { type ClusterState, desiredImage, type HostRun, type TaskState } from "../state/simulator-state";
import { advance } from "./advance";
import { alreadyCompliant, beginApply } from "./apply";

/** How many finished tasks of a cluster the component manager remembers. */
const rememberedTasks = 30;

/** How long tasks other than a remediation take, as a share of a host's remediation. */
const shareOfHostTime: Record<Exclude<TaskState["kind"], "apply">, number> = {
  scan: 0.05,
  check: 0.1,
  stage: 0.2,
  validate: 0.05,
  commit: 0.05,
};

/** For how much of a task's time it is still PENDING. */
const pendingShare = 0.02;

function openTask(
  context: SimulatorContext,
  cluster: ClusterState,
  task: Pick<TaskState, "kind" | "user"> & Partial<TaskState>,
): TaskState {
  const now = context.now();
  const desired = desiredImage(cluster);
  const opened: TaskState = {
    id: `${randomUUID()}:com.vmware.esx.settings.clusters.software`,
    status: "OPEN",
    createdAt: now,
    startsAt: now + pendingShare * context.hostMilliseconds(),
    forgotten: false,
    events: [],
    ...(desired && { commit: desired.id, version: desired.version, ...(desired.extras && { extras: desired.extras }) }),
    ...task,
  };
  const finished = cluster.tasks.filter(({ status }) => status !== "OPEN");
  const dropped = new Set(finished.slice(0, Math.max(0, finished.length - rememberedTasks)));
  cluster.tasks = [...cluster.tasks.filter((known) => !dropped.has(known)), opened];
  context.hostIndex.tasksChanged(
    cluster,
    opened.id,
    [...dropped].map(({ id }) => id),
  );
  context.changed(cluster);
  return opened;
}

/** Begins any task but a remediation; what it does happens when it ends. */
export function startTask(
  context: SimulatorContext,
  cluster: ClusterState,
  task: { kind: Exclude<TaskState["kind"], "apply">; user: string } & Pick<
    Partial<TaskState>,
    "hosts" | "draft" | "message" | "version" | "extras"
  >,
): TaskState {
  const duration = shareOfHostTime[task.kind] * context.hostMilliseconds();
  const now = context.now();
  const opened = openTask(context, cluster, {
    ...task,
    startsAt: now + pendingShare * duration,
    events: [{ at: now + duration, kind: "TASK_ENDED" }],
  });
  advance(context);
  return opened;
}

/** Begins the remediation of hosts (by id, in this order); those that have the desired image already are skipped. */
export function startApply(
  context: SimulatorContext,
  cluster: ClusterState,
  hosts: readonly string[],
  user: string,
): TaskState {
  const desired = desiredImage(cluster);
  const now = context.now();
  const runs = hosts.map((id): HostRun => {
    const isDone = cluster.hosts.some(
      (host) => host.id === id && desired && hasImage(host, desired) && host.connection === "CONNECTED",
    );
    return {
      host: id,
      status: isDone ? "SKIPPED" : "WAITING",
      tries: 0,
      marks: [],
      ...(isDone && { note: alreadyCompliant, endedAt: now }),
    };
  });
  const task = openTask(context, cluster, { kind: "apply", user, hosts: [...hosts], runs });
  beginApply(context, cluster, task);
  advance(context);
  return task;
}

/** The remediation that runs on a cluster, if any. */
export function runningApply(cluster: ClusterState): TaskState | undefined {
  return cluster.tasks.find(({ kind, status }) => kind === "apply" && status === "OPEN");
}
