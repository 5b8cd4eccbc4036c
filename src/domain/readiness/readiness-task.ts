import type { ErrorBody } from "../errors";
import { whatIsUpgraded } from "../plan/plan-upgrade";
import { type ResourcePlan, resourcesOf, type UpgradePlan } from "../plan/upgrade-plan";
import type { Stage, Task } from "../spec/task";
import { countFindings } from "../task/findings";
import {
  changeLastPrechecks,
  endResourcePrechecks,
  precheckRun,
  precheckTask,
  startPrechecks,
} from "../task/prechecks";
import { initialResourceSubTask } from "../task/resource-progress";
import { endPart, endWithParts } from "../task/task-parts";
import type { ActivityWaits } from "../time-limits";
import { toEpochMilliseconds } from "../timestamp";

/** What a readiness check looks at: the resources of an upgrade that is never started. Input of its Workflow. */
export interface ReadinessPlan {
  readonly name: string;
  readonly resources: readonly ResourcePlan[];
  readonly waits: ActivityWaits;
}

/** What an upgrade would look at in its prechecks. */
export function readinessPlan(plan: UpgradePlan): ReadinessPlan {
  const { bundle, products, waits } = plan;
  const what = products.map(whatIsUpgraded).join(", ");
  return { name: `Check ${what} for ${bundle.version ?? bundle.id}`, resources: resourcesOf(plan), waits };
}

/** The `type` of the Task of a readiness check. */
export const readinessType = "READINESS";

const suffix = "-readiness";
/** That of a run by a schedule ends with its time, which Temporal adds. */
const idPattern = /^[0-9a-f-]{36}-readiness(?:-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?$/;

/** Workflow ID and Task id of a readiness check; that of a schedule is the one of its first run. */
export function readinessId(uuid: string): string {
  return `${uuid}${suffix}`;
}

/** Tells the Task of a readiness check by its id. */
export function isReadinessId(taskId: string): boolean {
  return idPattern.test(taskId);
}

/** A readiness check as it goes on: a Task whose only part is the run of its prechecks. */
export type Readiness = Pick<Task, "id" | "name" | "type" | "status" | "creationTimestamp" | "subTasks" | "resources">;

/** One that has not begun. */
export function newReadiness({ name, resources }: ReadinessPlan, id: string, at: string): Readiness {
  return {
    ...{ id, name, type: "UPGRADE", status: "Pending", creationTimestamp: at },
    subTasks: [precheckRun(1, resources, at)],
    resources: resources.flatMap((resource) => initialResourceSubTask(resource, at).resources ?? []),
  };
}

/** All its prechecks begin. */
export function beginReadiness(readiness: Readiness, { resources }: ReadinessPlan, at: string): Readiness {
  return startPrechecks({ ...readiness, status: "In Progress" }, resources, at);
}

/** The prechecks of one resource have ended. */
export function resourceChecked(readiness: Readiness, id: string, stages: readonly Stage[], at: string): Readiness {
  return endResourcePrechecks(readiness, id, stages, at);
}

/** All prechecks have ended, or were cut short. */
export function endReadiness(readiness: Readiness, at: string, cancelled: boolean): Readiness {
  const ended = changeLastPrechecks(readiness, (run) => (cancelled ? endPart(run, at, true) : endWithParts(run, at)));
  return { ...ended, status: cancelled ? "Cancelled" : "Successful" };
}

/** The Task that clients read: Failed where a finding is an ERROR, with a warning where one is a WARNING. */
export function readinessTask(readiness: Readiness): Task {
  const { id, name, status } = readiness;
  const run = precheckTask(readiness, 1);
  if (!run) return readiness;
  const now = toEpochMilliseconds(run.completionTimestamp ?? run.creationTimestamp);
  const warnings = countFindings(readiness, now)?.warnings ?? 0;
  const hasWarnings = run.status === "Successful" && warnings > 0;
  return {
    ...run,
    ...{ id, name, type: readinessType },
    ...(hasWarnings && { status: "COMPLETED_WITH_WARNING" as const }),
    isCancellable: status === "Pending" || status === "In Progress",
  };
}

/** One whose Workflow was ended from outside at `at`. */
export function lostReadiness(readiness: Readiness, at: string): Task {
  const error: ErrorBody = {
    errorCode: "READINESS_LOST",
    errorType: "INTERNAL",
    message: "The Workflow of this readiness check was ended from outside, before its prechecks had ended.",
    remediationMessage: "Start another check with POST /v1/prechecks. Nothing was changed.",
  };
  return { ...readinessTask(endReadiness(readiness, at, true)), status: "Failed", errors: [error] };
}
