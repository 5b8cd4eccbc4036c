import type { ErrorBody } from "../../domain/errors";
import type { Finding } from "../../domain/spec/finding";
import type { StageStatus, SubTask, SubTaskStatus, Task } from "../../domain/spec/task";
import { precheckTaskId, precheckType } from "../../domain/task/prechecks";

/** One check of one resource. */
export interface Precheck {
  readonly name: string;
  readonly status: StageStatus | SubTaskStatus;
  readonly description: string;
  readonly errors: readonly ErrorBody[];
  /** Empty of what could not be checked. */
  readonly findings: readonly Finding[];
}

/** The checks of one resource in a run; without checks where none of them has begun. */
export interface PrecheckedResource {
  readonly name: string;
  readonly status: SubTaskStatus;
  readonly checks: readonly Precheck[];
}

/** One run of the prechecks. */
export interface PrecheckRun {
  /** The id of its own Task. */
  readonly id: string;
  readonly name: string;
  readonly status: SubTaskStatus;
  /** Epoch milliseconds; absent while it runs. */
  readonly end?: number;
  readonly resources: readonly PrecheckedResource[];
  /** Checks by how they ended. */
  readonly passed: number;
  readonly failed: number;
  /** Not all of its resources are kept. */
  readonly isTruncated: boolean;
}

/** Whether a check has something to tell beside that it was made. */
export function hasFound({ status, findings }: Precheck): boolean {
  return status === "FAILED" || findings.length > 0;
}

/** All runs of the prechecks of an upgrade, the latest first. */
export function precheckRunsOf({ id: upgradeId, subTasks = [] }: Task): PrecheckRun[] {
  return subTasks
    .filter(({ type }) => type === precheckType)
    .map((part, i) => toRun(part, precheckTaskId({ upgradeId, run: i + 1 })))
    .reverse();
}

function toRun(run: SubTask, id: string): PrecheckRun {
  const resources = precheckedResources(run);
  const checks = resources.flatMap((resource) => resource.checks);
  const { name, status, completionTimestamp } = run;
  return {
    id,
    name,
    status,
    ...(completionTimestamp !== undefined && { end: Date.parse(completionTimestamp) }),
    resources,
    passed: checks.filter((check) => check.status === "SUCCESSFUL").length,
    failed: checks.filter((check) => check.status === "FAILED").length,
    isTruncated: run.isTruncated === true,
  };
}

/** The resources of a run, or of a readiness check, with their checks. */
export function precheckedResources({ subTasks = [] }: Pick<Task, "subTasks">): PrecheckedResource[] {
  return subTasks.map(toResource);
}

function toResource(part: SubTask): PrecheckedResource {
  const { name, resources = [], status, stages = [], errors = [], description } = part;
  const checks = stages.map((stage) => ({ ...stage, errors: stage.errors ?? [], findings: stage.findings ?? [] }));
  const told = new Set(checks.flatMap((check) => check.errors.map(({ message }) => message)));
  const other = errors.filter(({ message }) => !told.has(message));
  return {
    name: resources[0]?.name ?? name,
    status,
    checks: other.length > 0 ? [...checks, { name, status, description, errors: other, findings: [] }] : checks,
  };
}
