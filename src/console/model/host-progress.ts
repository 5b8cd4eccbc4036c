import { countHosts } from "../../domain/cluster-hosts";
import type { SubTask, Task } from "../../domain/task";

/** How far the hosts of an upgrade are. `done`: upgraded, or there already. `left`: not begun. */
export interface HostProgress {
  readonly total: number;
  readonly done: number;
  readonly running: number;
  readonly failed: number;
  readonly left: number;
  /** Clusters whose hosts nobody has read yet, so that they are not among `total`. */
  readonly unreadClusters: number;
}

const none: HostProgress = { total: 0, done: 0, running: 0, failed: 0, left: 0, unreadClusters: 0 };

// A change of a Task keeps the parts that it does not touch, so of thousands of hosts only a few are counted again.
const counted = new WeakMap<SubTask, HostProgress>();

/** The hosts below one part, however deep they are. */
export function hostProgressOf(part: SubTask): HostProgress {
  const known = counted.get(part);
  if (known) return known;
  const progress = part.type === "CLUSTER_UPGRADE" ? ofCluster(part) : sumOf(part.subTasks ?? []);
  counted.set(part, progress);
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
  const { total, upgraded, skipped, failed, left } = countHosts(cluster);
  const done = upgraded + skipped;
  return { total, done, failed, left, running: total - done - failed - left, unreadClusters: 0 };
}

function sumOf(parts: readonly SubTask[]): HostProgress {
  return parts.map(hostProgressOf).reduce(
    (a, b) => ({
      total: a.total + b.total,
      done: a.done + b.done,
      running: a.running + b.running,
      failed: a.failed + b.failed,
      left: a.left + b.left,
      unreadClusters: a.unreadClusters + b.unreadClusters,
    }),
    none,
  );
}
