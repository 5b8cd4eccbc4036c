import type { SubTask, Task } from "../../domain/spec/task";
import { countHosts } from "../../domain/task/cluster-progress";
import { plural } from "./labels";

/** How far the hosts of an upgrade are. `done`: upgraded, or there already. `left`: not begun. */
export interface HostProgress {
  readonly total: number;
  readonly done: number;
  readonly running: number;
  readonly failed: number;
  readonly left: number;
  /** Not to be upgraded, and not among `total`. */
  readonly leftOut: number;
  /** Clusters whose hosts nobody has read yet, so that they are not among `total`. */
  readonly unreadClusters: number;
}

const none: HostProgress = { total: 0, done: 0, running: 0, failed: 0, left: 0, leftOut: 0, unreadClusters: 0 };

// A change of a Task keeps the parts that it does not touch, so of thousands of hosts only a few are progressOfParts again.
const progressOfParts = new WeakMap<SubTask, HostProgress>();

/** The hosts below one part, however deep they are. */
export function hostProgressOf(part: SubTask): HostProgress {
  const known = progressOfParts.get(part);
  if (known) return known;
  const progress = part.type === "CLUSTER_UPGRADE" ? ofCluster(part) : sumOf(part.subTasks ?? []);
  progressOfParts.set(part, progress);
  return progress;
}

/** The hosts of a whole upgrade; its prechecks change no host. */
export function hostProgressOfTask({ subTasks = [] }: Task): HostProgress {
  return sumOf(subTasks.filter(({ type }) => type !== "PRECHECKS"));
}

/** The clusters of an upgrade, with their hosts where these are known. */
export function clustersOf({ subTasks = [] }: Task): SubTask[] {
  return subTasks.flatMap((product) => (product.subTasks ?? []).filter(({ type }) => type === "CLUSTER_UPGRADE"));
}

function ofCluster(cluster: SubTask): HostProgress {
  if (!cluster.subTasks)
    return { ...none, unreadClusters: cluster.status === "PENDING" || cluster.status === "IN_PROGRESS" ? 1 : 0 };
  const { total, upgraded, skipped, failed, left, leftOut = 0 } = countHosts(cluster);
  const done = upgraded + skipped;
  return { total, done, failed, left, leftOut, running: total - done - failed - left, unreadClusters: 0 };
}

function sumOf(parts: readonly SubTask[]): HostProgress {
  return parts.map(hostProgressOf).reduce(
    (a, b) => ({
      total: a.total + b.total,
      done: a.done + b.done,
      running: a.running + b.running,
      failed: a.failed + b.failed,
      left: a.left + b.left,
      leftOut: a.leftOut + b.leftOut,
      unreadClusters: a.unreadClusters + b.unreadClusters,
    }),
    none,
  );
}

/** From when to when a host was in work, in epoch milliseconds; without `end` it still is. */
export interface HostSpan {
  readonly begin: number;
  readonly end?: number;
}

/** The time that a host was in work; undefined of a host that has not begun. */
export function hostSpanOf({ status, stages = [], completionTimestamp }: SubTask): HostSpan | undefined {
  if (status === "PENDING" || status === "NOT_APPLICABLE") return undefined;
  const begun = stages.filter((stage) => stage.status !== "PENDING");
  if (begun.length === 0) return undefined;
  const begin = Math.min(...begun.map(({ creationTimestamp }) => Date.parse(creationTimestamp)));
  return { begin, ...(completionTimestamp !== undefined && { end: Math.max(begin, Date.parse(completionTimestamp)) }) };
}

/**
 * What a screen reader says of itself: the phase, hosts that failed, and every quarter of the hosts. More would talk all
 * the time.
 */
export function screenReaderStatus(phase: string, task: Task): string {
  const { total, done, failed } = hostProgressOfTask(task);
  const quarters = total === 0 ? 0 : Math.floor((done / total) * 4);
  return [
    `Upgrade: ${phase}.`,
    ...(quarters > 0 ? [`${quarters * 25} percent of the hosts are done.`] : []),
    ...(failed > 0 ? [`${plural(failed, "host")} failed.`] : []),
  ].join(" ");
}

/**
 * About how many milliseconds the hosts that are known still take: by the mean of those that are done, as many at a
 * time as now, the clusters side by side. Undefined until a first host is done, and where nothing is left.
 */
export function remainingMilliseconds(task: Task, now: number): number | undefined {
  const clusters = clustersOf(task);
  const mean = meanHostMilliseconds(clusters);
  if (mean === undefined) return undefined;
  const longest = Math.max(0, ...clusters.map((cluster) => remainingOf(cluster, mean, now)));
  return longest > 0 ? longest : undefined;
}

function meanHostMilliseconds(clusters: readonly SubTask[]): number | undefined {
  const times = clusters
    .flatMap(({ subTasks = [] }) => subTasks)
    .filter(({ status }) => status === "SUCCESSFUL")
    .flatMap((host) => {
      const span = hostSpanOf(host);
      return span?.end === undefined ? [] : [span.end - span.begin];
    });
  return times.length === 0 ? undefined : times.reduce((sum, time) => sum + time, 0) / times.length;
}

function remainingOf(cluster: SubTask, mean: number, now: number): number {
  const { running, left } = hostProgressOf(cluster);
  const current = (cluster.subTasks ?? [])
    .filter(({ status }) => status === "IN_PROGRESS")
    // The clock of the browser may be behind that of the service: a host has not begun later than now.
    .map((host) => Math.max(0, mean - Math.max(0, now - (hostSpanOf(host)?.begin ?? now))));
  return Math.max(0, ...current) + (left * mean) / Math.max(1, running);
}
