import { advanceNsx } from "../nsx/nsx-timeline";
import type { DueEvent, SimulatorContext } from "../state/context";
import { describeImage } from "../state/image-extras";
import { type ClusterState, desiredImage, type TaskState } from "../state/simulator-state";
import { advanceVcsa } from "../vcsa/advance-vcsa";
import { happenToTask } from "../vim25/tasks";
import { happenToApply } from "./apply";
import { checkCluster } from "./check";
import { scanCluster } from "./scan";

/** What a task other than a remediation does, all at its end. */
function endTask(context: SimulatorContext, cluster: ClusterState, task: TaskState, at: number): void {
  task.status = "SUCCEEDED";
  task.endedAt = at;
  switch (task.kind) {
    case "scan": {
      // Results of earlier scans are dropped: with many hosts they would be most of the state.
      for (const earlier of cluster.tasks) delete earlier.scan;
      const scan = scanCluster(context, cluster, at);
      if (scan) task.scan = structuredClone(scan);
      return;
    }
    case "check":
      task.check = checkCluster(context, cluster, task, at);
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
      context.record({
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

/** Lets the event of a cluster happen that is due at a moment; of several the one of the first task. */
function letHappen(context: SimulatorContext, { cluster, at }: DueEvent): void {
  const task = cluster.tasks.find(({ status, events }) => status === "OPEN" && events[0]?.at === at);
  if (task) {
    const [event, ...later] = task.events;
    if (!event) return;
    task.events = later;
    if (task.kind === "apply") happenToApply(context, cluster, task, event);
    else endTask(context, cluster, task, event.at);
    return;
  }
  const ofHost = cluster.vim25?.tasks.find(({ events }) => events[0]?.at === at);
  if (!ofHost) return;
  const [event, ...later] = ofHost.events;
  if (!event) return;
  ofHost.events = later;
  happenToTask(context, cluster, ofHost, event);
}

/**
 * Lets everything happen that is due by now, earliest first, over all clusters, each with the time at which it was
 * due. It makes no difference how often or how late this is called, or whether a restart lies between.
 */
export function advance(context: SimulatorContext): void {
  const now = context.now();
  for (let due = context.eventQueue.next(); due && due.at <= now; due = context.eventQueue.next()) {
    letHappen(context, due);
    context.movedOn(due.cluster);
  }
  advanceNsx(context);
  advanceVcsa(context);
}
