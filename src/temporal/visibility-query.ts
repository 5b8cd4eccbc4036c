import type { TaskStatus } from "../domain/task";
import type { TaskFilter, UpgradeFilter } from "../upgrades/ports";

/** Statuses of what has ended, of the Upgrade and of its Task. */
const upgradeEnds = ["COMPLETED_WITH_SUCCESS", "COMPLETED_WITH_FAILURE", "CANCELLED"];
const taskEnds = ["Successful", "COMPLETED_WITH_WARNING", "SKIPPED", "Failed", "Cancelled"];
const endedWithoutAWord = "ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed')";

/** Each once: a run that another one has taken on from is no upgrade of its own. */
const ofUpgrades = "WorkflowType = 'upgradeWorkflow' AND ExecutionStatus != 'ContinuedAsNew'";

/** Visibility's list filter for upgrades (https://docs.temporal.io/list-filter). */
export function upgradesQuery({ status, bundleId, bundleType, resourceId }: UpgradeFilter): string {
  const conditions = [ofUpgrades];
  if (status !== undefined) {
    conditions.push(statusCondition("UpgradeStatus", status, upgradeEnds, "COMPLETED_WITH_FAILURE"));
  }
  if (bundleId !== undefined) conditions.push(`BundleId = ${quoted(bundleId)}`);
  if (bundleType !== undefined) conditions.push(`BundleType = ${quoted(bundleType)}`);
  if (resourceId !== undefined) conditions.push(ofResource(resourceId));
  return conditions.join(" AND ");
}

/** The same for their Tasks. A status is found in whichever of its spellings it is asked for. */
export function tasksQuery({ taskStatus, resourceId }: TaskFilter): string {
  const conditions = [ofUpgrades];
  if (taskStatus !== undefined) {
    conditions.push(statusCondition("TaskStatus", stored[taskStatus] ?? taskStatus, taskEnds, "Failed"));
  }
  if (resourceId !== undefined) conditions.push(ofResource(resourceId));
  return conditions.join(" AND ");
}

/** The spelling that Tasks have, for those of Spec 3 that they do not. */
const stored: Partial<Record<TaskStatus, TaskStatus>> = {
  PENDING: "Pending",
  IN_PROGRESS: "In Progress",
  SUCCESSFUL: "Successful",
  FAILED: "Failed",
  CANCELLED: "Cancelled",
};

/** No resource has a quotation mark in its id, and Visibility on SQLite fails where it is asked for one in a list. */
function ofResource(resourceId: string): string {
  return resourceId.includes('"') ? "WorkflowType = ''" : `ResourceIds = ${quoted(resourceId)}`;
}

/** The running Workflows of resources, which are the locks. */
export function locksQuery(workflowIds: readonly string[]): string {
  return `ExecutionStatus = 'Running' AND WorkflowId IN (${workflowIds.map(quoted).join(", ")})`;
}

/** Running Workflows of these types. */
export function runningWorkflowsQuery(types: readonly string[]): string {
  return `ExecutionStatus = 'Running' AND WorkflowType IN (${types.map(quoted).join(", ")})`;
}

/**
 * Running Workflows whose last Workflow Tasks have failed, several in a row. A server that does not have the attribute
 * answers INVALID_ARGUMENT: 1.29 does not, 1.32 does.
 */
export const reportedWorkflowsQuery =
  "ExecutionStatus = 'Running' AND TemporalReportedProblems IN ('category=WorkflowTaskFailed', 'category=WorkflowTaskTimedOut')";

/** A terminated Workflow could not say that it failed; its search attribute still says what it was doing. */
function statusCondition(attribute: string, status: string, ends: readonly string[], failed: string): string {
  const says = `${attribute} = ${quoted(status)}`;
  if (status === failed) {
    return `(${says} OR (${endedWithoutAWord} AND ${attribute} NOT IN (${ends.map(quoted).join(", ")})))`;
  }
  return ends.includes(status) ? says : `${says} AND ExecutionStatus = 'Running'`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
