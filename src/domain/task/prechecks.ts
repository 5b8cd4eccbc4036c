import type { ErrorBody } from "../errors";
import { lowerFirst } from "../names";
import type { ResourcePlan } from "../plan/upgrade-plan";
import type { Stage, SubTask, SubTaskStatus, Task, TaskStatus } from "../spec/task";
import { isLeftOut } from "./left-out";
import { initialResourceSubTask, resourceTitle } from "./resource-progress";
import { from, withResource } from "./task-parts";

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

/** How many resources of earlier runs a Task keeps with their checks: it has to fit into a payload of Temporal. */
const keptResources = 128;

/**
 * Earlier runs of the prechecks as a Task keeps them when another one begins, the oldest first. All runs stay, the
 * later ones whole; of those before as many resources as there is room for, failed ones first.
 */
export function keepRuns(runs: readonly SubTask[]): SubTask[] {
  let room = keptResources;
  return runs
    .toReversed()
    .map((run) => {
      const kept = keepResources(run, room);
      room -= kept.subTasks?.length ?? 0;
      return kept;
    })
    .toReversed();
}

function keepResources(run: SubTask, room: number): SubTask {
  const resources = run.subTasks ?? [];
  if (resources.length <= room) return run;
  const byNeed = [...resources.filter(hasFailed), ...resources.filter((resource) => !hasFailed(resource))];
  const kept = new Set(byNeed.slice(0, room));
  return {
    ...run,
    ...(!run.isTruncated && {
      isTruncated: true,
      description: `${run.description} Some resources of this early run were dropped.`,
    }),
    subTasks: resources.filter((resource) => kept.has(resource)),
  };
}

function hasFailed({ status }: SubTask): boolean {
  return status === "FAILED";
}

/** A run of the prechecks: of which upgrade, and the how manieth; the first is 1. */
export interface PrecheckRun {
  readonly upgradeId: string;
  readonly run: number;
}

/** The Task id of a precheck run, under which it can be read like any Task. */
export function precheckTaskId({ upgradeId, run }: PrecheckRun): string {
  return `${upgradeId}-prechecks-${run}`;
}

/** The precheck run that a Task id means; undefined for the Task of an upgrade. */
export function precheckRunOf(taskId: string): PrecheckRun | undefined {
  const [, upgradeId, run] = /^(.+)-prechecks-([1-9]\d{0,5})$/.exec(taskId) ?? [];
  return upgradeId !== undefined && run !== undefined ? { upgradeId, run: Number(run) } : undefined;
}

/** One run of the prechecks as a Task of its own, taken out of its upgrade's; undefined where there is no such run. */
export function precheckTask(task: Task, run: number): Task | undefined {
  const found = (task.subTasks ?? []).filter(({ type }) => type === "PRECHECKS")[run - 1];
  if (!found) return undefined;
  const { name, type, creationTimestamp, completionTimestamp, subTasks, errors, resources } = found;
  return {
    id: precheckTaskId({ upgradeId: task.id, run }),
    name,
    type,
    status: isInterrupted(found, task) ? "Cancelled" : statuses[found.status],
    creationTimestamp,
    ...(completionTimestamp !== undefined && { completionTimestamp }),
    ...(subTasks && { subTasks }),
    ...(errors && { errors }),
    resources: resources ?? task.resources ?? [],
    isCancellable: false,
    isRetryable: false,
  };
}

const statuses: Record<SubTaskStatus, TaskStatus> = {
  PENDING: "Pending",
  IN_PROGRESS: "In Progress",
  SUCCESSFUL: "Successful",
  FAILED: "Failed",
  NOT_APPLICABLE: "SKIPPED",
};

/** Prechecks that a cancellation of the upgrade has cut short, or kept from beginning, have not failed. */
function isInterrupted({ status, errors = [] }: SubTask, { status: upgrade }: Task): boolean {
  if (upgrade !== "Cancelled") return false;
  return (
    status === "NOT_APPLICABLE" || (status === "FAILED" && errors.some((error) => error.errorCode === "CANCELLED"))
  );
}

/** Whether the latest run of the prechecks has ended, and passed for all resources that the upgrade has not left out. */
export function prechecksPassed(task: Pick<Task, "subTasks">): boolean {
  const run = latestRun(task);
  if (run?.status !== "FAILED") return run?.status === "SUCCESSFUL";
  const counted = countedParts(task, run);
  return counted.length > 0 && counted.every(({ status }) => status === "SUCCESSFUL");
}

/** The errors of the latest run of the prechecks, but for those of resources that the upgrade has left out. */
export function precheckErrors(task: Pick<Task, "subTasks">): readonly ErrorBody[] {
  const run = latestRun(task);
  if (run?.status !== "FAILED" || prechecksPassed(task)) return [];
  const counted = countedParts(task, run);
  return counted.length > 0 ? counted.flatMap(errorsIn) : errorsIn(run);
}

function latestRun({ subTasks = [] }: Pick<Task, "subTasks">): SubTask | undefined {
  return subTasks.filter(({ type }) => type === precheckType).at(-1);
}

function countedParts({ subTasks = [] }: Pick<Task, "subTasks">, run: SubTask): readonly SubTask[] {
  const products = subTasks.filter(({ type }) => type !== precheckType);
  const leftOut = new Set(products.flatMap((product) => (product.subTasks ?? []).filter(isLeftOut).map(resourceOf)));
  return (run.subTasks ?? []).filter((part) => !leftOut.has(resourceOf(part)));
}

function resourceOf({ resources }: SubTask): string | undefined {
  return resources?.[0]?.resourceId;
}

function errorsIn({ stages = [], subTasks = [] }: SubTask): readonly ErrorBody[] {
  return [...stages.flatMap(({ errors = [] }) => errors), ...subTasks.flatMap(errorsIn)];
}
