import { keepRuns } from "./precheck-history";
import { initialResourceSubTask, resourceTitle } from "./resource-progress";
import { from, withResource } from "./task-parts";
import type { Stage, SubTask, Task } from "./task";
import type { ResourcePlan } from "./upgrade-plan";

/** The `type` of a run of the prechecks among the SubTasks of a Task. */
export const precheckType = "PRECHECKS";

/** How many runs of the prechecks have begun. */
export function precheckRuns({ subTasks = [] }: Task): number {
  return subTasks.filter(({ type, status }) => type === precheckType && status !== "PENDING").length;
}

/** A run of the prechecks that has not begun, with a SubTask for each resource. */
export function precheckRun(run: number, resources: readonly ResourcePlan[], at: string): SubTask {
  return {
    name: run === 1 ? "Prechecks" : `Prechecks, run ${run}`,
    type: precheckType,
    description: "Check that every resource can be upgraded; changes nothing.",
    status: "PENDING",
    creationTimestamp: at,
    subTasks: resources.map((resource) => ({
      name: `Check ${lowerFirst(resourceTitle(resource))}`,
      type: `${typeOf(resource)}_PRECHECKS`,
      description: `Check that ${lowerFirst(resourceTitle(resource))} can be upgraded.`,
      status: "PENDING",
      creationTimestamp: at,
      resources: initialResourceSubTask(resource, at).resources ?? [],
    })),
  };
}

/** Begins a run of the prechecks: the first one, which waits since the Task exists, or one more. Earlier runs stay. */
export function startPrechecks(task: Task, resources: readonly ResourcePlan[], at: string): Task {
  const parts = task.subTasks ?? [];
  const runs = parts.filter((part) => part.type === precheckType);
  const others = parts.filter((part) => part.type !== precheckType);
  const waiting = runs.at(-1)?.status === "PENDING";
  const earlier = waiting ? runs.slice(0, -1) : runs;
  const run = { ...precheckRun(earlier.length + 1, resources, at), status: "IN_PROGRESS" as const };
  const started = run.subTasks?.map((resource) => ({ ...resource, status: "IN_PROGRESS" as const })) ?? [];
  return { ...task, subTasks: [...keepRuns(earlier), { ...run, subTasks: started }, ...others] };
}

/** The latest run of the prechecks after the stages of one resource have ended at `at`. */
export function endResourcePrechecks(task: Task, resourceId: string, stages: readonly Stage[], at: string): Task {
  return changeLastPrechecks(task, (run) =>
    withResource(run, resourceId, from("IN_PROGRESS", precheckedBy(stages, at))),
  );
}

/** Changes the latest run of the prechecks. */
export function changeLastPrechecks(task: Task, change: (run: SubTask) => SubTask): Task {
  const parts = task.subTasks ?? [];
  const last = parts.findLastIndex((part) => part.type === precheckType);
  return { ...task, subTasks: parts.map((part, i) => (i === last ? change(part) : part)) };
}

function precheckedBy(stages: readonly Stage[], at: string) {
  const errors = stages.flatMap((stage) => stage.errors ?? []);
  return (cluster: SubTask): SubTask => ({
    ...cluster,
    status: stages.some((stage) => stage.status === "FAILED") ? "FAILED" : "SUCCESSFUL",
    completionTimestamp: at,
    stages: [...stages],
    ...(errors.length > 0 && { errors }),
  });
}

/** Clusters of both kinds are of one type. */
function typeOf({ kind }: ResourcePlan): string {
  return kind === "NETVIRT" || kind === "MGMT" ? kind : "CLUSTER";
}

/** For the middle of a sentence; names of products keep their capitals. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
