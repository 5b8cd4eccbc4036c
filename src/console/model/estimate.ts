import type { SubTask, Task } from "../../domain/task";
import { clustersOf, hostProgressOf } from "./host-progress";
import { hostSpanOf } from "./host-span";

/** Milliseconds since the upgrade was accepted; of one that has ended, how long it took. */
export function elapsedMilliseconds({ creationTimestamp, completionTimestamp }: Task, now: number): number {
  const end = completionTimestamp === undefined ? now : Date.parse(completionTimestamp);
  return Math.max(0, end - Date.parse(creationTimestamp));
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

/** A length of time for people: `2 h 05 min`, `3 min 20 s`, `8 s`. */
export function spokenDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  const two = (n: number) => String(n).padStart(2, "0");
  if (hours > 0) return `${hours} h ${two(minutes)} min`;
  return minutes > 0 ? `${minutes} min ${two(seconds % 60)} s` : `${seconds} s`;
}
