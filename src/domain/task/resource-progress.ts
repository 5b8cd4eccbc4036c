import type { ErrorBody } from "../errors";
import { isCluster, type ResourcePlan } from "../plan/upgrade-plan";
import type { SubTask } from "../spec/task";
import { clusterResultSubTask, initialClusterSubTask, mergeCluster } from "./cluster-progress";
import { initialMgmtSubTask, mgmtResultSubTask } from "./mgmt-progress";
import { initialNetvirtSubTask, mergeNetvirt, netvirtResultSubTask } from "./netvirt-progress";
import type { HostCounts, ResourceOutcome } from "./sub-task";

/** How a resource's own Workflow ended, as its upgrade needs it. */
export interface ResourceEnd {
  readonly outcome: ResourceOutcome;
  readonly hosts: HostCounts;
  readonly error?: ErrorBody;
}

/** What a resource is called in sentences. */
export function resourceTitle({ kind, name }: Pick<ResourcePlan, "kind" | "name">): string {
  switch (kind) {
    case "IMAGE":
    case "BASELINE":
      return `Cluster ${name}`;
    case "NETVIRT":
      return `NETVIRT ${name}`;
    case "MGMT":
      return `Management server ${name}`;
  }
}

/** How far the hosts or nodes of a resource are, in sentences; none where none is known. */
export function countsText(resource: ResourcePlan, hosts: HostCounts): string[] {
  const { total, upgraded, skipped, failed, left, leftOut = 0 } = hosts;
  const what = isCluster(resource) ? "hosts" : "nodes";
  const ends = `${upgraded + skipped} are at the target, ${failed} failed and ${left} were not begun`;
  return [...(total > 0 ? [`Of ${total} ${what} ${ends}.`] : []), ...(leftOut > 0 ? [`Left out: ${leftOut}.`] : [])];
}

/** The SubTask of a resource before anything of it has happened. */
export function initialResourceSubTask(resource: ResourcePlan, at: string): SubTask {
  switch (resource.kind) {
    case "IMAGE":
    case "BASELINE":
      return initialClusterSubTask(resource, at);
    case "NETVIRT":
      return initialNetvirtSubTask(resource, at);
    case "MGMT":
      return initialMgmtSubTask(resource, at);
  }
}

/** What the upgrade itself keeps of a resource that has ended: how it went, without its parts. */
export function resourceResultSubTask(resource: ResourcePlan, end: ResourceEnd, created: string, at: string): SubTask {
  switch (resource.kind) {
    case "IMAGE":
    case "BASELINE":
      return clusterResultSubTask(resource, end, created, at);
    case "NETVIRT":
      return netvirtResultSubTask(resource, end, created, at);
    case "MGMT":
      return mgmtResultSubTask(resource, end, created, at);
  }
}

/**
 * A resource as its upgrade and its own Workflow together show it: its own Workflow knows its parts, its upgrade how
 * it ended where that Workflow ended without a word.
 */
export function mergeResource(known: SubTask, own: SubTask): SubTask {
  return known.type === "NETVIRT_INSTANCE_UPGRADE" ? mergeNetvirt(known, own) : mergeCluster(known, own);
}
