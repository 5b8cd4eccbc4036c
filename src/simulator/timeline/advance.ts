import { advanceNsx } from "../nsx/nsx-timeline";
import { desiredImage, type ClusterState, type TaskState } from "../state/simulator-state";
import type { World } from "../state/world";
import { happenToTask } from "../vim25/tasks";
import { advanceVcsa } from "../vcsa/advance-vcsa";
import { happenToApply } from "./apply";
import { scanCluster } from "./scan";

/** What a task other than a remediation does, all at its end. */
function endTask(world: World, cluster: ClusterState, task: TaskState, at: number): void {
  task.status = "SUCCEEDED";
  task.endedAt = at;
  switch (task.kind) {
    case "scan": {
      // Results of earlier scans are dropped: with many hosts they would be most of the state.
      for (const earlier of cluster.tasks) delete earlier.scan;
      const scan = scanCluster(cluster, at);
      if (scan) task.scan = structuredClone(scan);
      return;
    }
    case "check": {
      const hosts = cluster.hosts.filter(({ id }) => task.hosts?.includes(id) ?? true);
      const issues = Object.fromEntries(
        hosts.map((host) => {
          const fault = world.findFault(["CHECK_FAILS"], { cluster: cluster.id, host: host.id }, at);
          if (fault) world.useFault(fault);
          const found = fault ? [fault.issue ?? `Host ${host.name} is not ready to be remediated.`] : [];
          return [host.id, host.connection === "CONNECTED" ? found : [`Host ${host.name} is not connected.`]];
        }),
      );
      task.check = { startedAt: task.createdAt, endedAt: at, commit: task.commit ?? "", issues };
      cluster.lastCheck = structuredClone(task.check);
      return;
    }
    case "stage":
      for (const host of cluster.hosts)
        if ((task.hosts?.includes(host.id) ?? true) && task.version !== undefined && host.version !== task.version)
          host.stagedVersion = task.version;
      return;
    case "commit": {
      const version = cluster.drafts.find(({ id }) => id === task.draft)?.version;
      if (version === undefined) {
        task.status = "FAILED";
        return;
      }
      const id = String(Number(desiredImage(cluster)?.id ?? 0) + 1);
      cluster.commits.push({ id, version, author: task.user, at, message: task.message ?? "" });
      cluster.drafts = cluster.drafts.filter((draft) => draft.id !== task.draft);
      task.commit = id;
      world.record({
        at,
        cluster: cluster.id,
        step: "IMAGE_COMMITTED",
        task: task.id,
        detail: `commit ${id}: ${version}`,
      });
      return;
    }
    case "validate":
    case "apply":
      return;
  }
}

/** The next thing that happens to a cluster, and when (epoch milliseconds). */
interface Due {
  readonly at: number;
  readonly cluster: ClusterState;
  happen(): void;
}

function dueOf(world: World, cluster: ClusterState, now: number): Due[] {
  const tasks = cluster.tasks.flatMap((task): Due[] => {
    const [event, ...later] = task.events;
    if (task.status !== "OPEN" || !event || event.at > now) return [];
    const happen = () => {
      task.events = later;
      if (task.kind === "apply") happenToApply(world, cluster, task, event);
      else endTask(world, cluster, task, event.at);
    };
    return [{ at: event.at, cluster, happen }];
  });
  const ofHosts = (cluster.vim25?.tasks ?? []).flatMap((task): Due[] => {
    const [event, ...later] = task.events;
    if (!event || event.at > now) return [];
    const happen = () => {
      task.events = later;
      happenToTask(world, cluster, task, event);
    };
    return [{ at: event.at, cluster, happen }];
  });
  return [...tasks, ...ofHosts];
}

function nextDue(world: World, now: number): Due | undefined {
  let next: Due | undefined;
  for (const cluster of world.state.clusters)
    for (const due of dueOf(world, cluster, now)) if (!next || due.at < next.at) next = due;
  return next;
}

/**
 * Lets everything happen that is due by now, earliest first, over all clusters, each with the time at which it was
 * due. It makes no difference how often or how late this is called, or whether a restart lies between.
 */
export function advance(world: World): void {
  const now = world.now();
  for (let due = nextDue(world, now); due; due = nextDue(world, now)) {
    due.happen();
    world.movedOn(due.cluster);
  }
  advanceNsx(world);
  advanceVcsa(world);
}
