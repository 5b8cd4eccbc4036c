import { advanceNsx } from "../nsx/nsx-timeline";
import { describeImage } from "../state/image-extras";
import { desiredImage, type ClusterState, type TaskState, type TimelineEvent } from "../state/simulator-state";
import type { World } from "../state/world";
import { happenToTask } from "../vim25/tasks";
import { advanceVcsa } from "../vcsa/advance-vcsa";
import { happenToApply } from "./apply";
import { checkCluster } from "./check";
import { scanCluster } from "./scan";

/** What a task other than a remediation does, all at its end. */
function endTask(world: World, cluster: ClusterState, task: TaskState, at: number): void {
  task.status = "SUCCEEDED";
  task.endedAt = at;
  switch (task.kind) {
    case "scan": {
      // Results of earlier scans are dropped: with many hosts they would be most of the state.
      for (const earlier of cluster.tasks) delete earlier.scan;
      const scan = scanCluster(world, cluster, at);
      if (scan) task.scan = structuredClone(scan);
      return;
    }
    case "check":
      task.check = checkCluster(world, cluster, task, at);
      cluster.lastCheck = structuredClone(task.check);
      return;
    case "stage":
      for (const host of cluster.hosts)
        if ((task.hosts?.includes(host.id) ?? true) && task.version !== undefined && host.version !== task.version)
          host.stagedVersion = task.version;
      return;
    case "commit": {
      const draft = cluster.drafts.find(({ id }) => id === task.draft);
      if (!draft) {
        task.status = "FAILED";
        return;
      }
      const id = String(Number(desiredImage(cluster)?.id ?? 0) + 1);
      const { version, extras } = draft;
      const message = task.message ?? "";
      cluster.commits.push({ id, version, author: task.user, at, message, ...(extras && { extras }) });
      cluster.drafts = cluster.drafts.filter((other) => other !== draft);
      task.commit = id;
      world.record({
        at,
        cluster: cluster.id,
        step: "IMAGE_COMMITTED",
        task: task.id,
        detail: `commit ${id}: ${describeImage(draft)}`,
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

/** Takes the first of the events of a task. */
function takeEvent<E>(task: { events: readonly E[] }, happen: (event: E) => void): void {
  const [event, ...later] = task.events;
  if (event === undefined) return;
  task.events = later;
  happen(event);
}

/** Asked before every answer: nothing is made of the many tasks, most of them ended, that nothing is due of. */
function nextDue(world: World, now: number): Due | undefined {
  let next: Due | undefined;
  let earliest = Infinity;
  for (const cluster of world.state.clusters) {
    for (const task of cluster.tasks) {
      const at = task.events[0]?.at ?? Infinity;
      if (at > now || at >= earliest || task.status !== "OPEN") continue;
      earliest = at;
      const happen = (event: TimelineEvent) =>
        task.kind === "apply" ? happenToApply(world, cluster, task, event) : endTask(world, cluster, task, event.at);
      next = { at, cluster, happen: () => takeEvent(task, happen) };
    }
    for (const task of cluster.vim25?.tasks ?? []) {
      const at = task.events[0]?.at ?? Infinity;
      if (at > now || at >= earliest) continue;
      earliest = at;
      next = { at, cluster, happen: () => takeEvent(task, (event) => happenToTask(world, cluster, task, event)) };
    }
  }
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
