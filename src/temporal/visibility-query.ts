import type { UpgradeFilter } from "../upgrades/ports";

const ended = ["COMPLETED_WITH_SUCCESS", "COMPLETED_WITH_FAILURE", "CANCELLED"];
const endedWithoutAWord = "ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed')";

/** Visibility's list filter for upgrades (https://docs.temporal.io/list-filter). */
export function upgradesQuery({ status, bundleId, bundleType }: UpgradeFilter): string {
  const conditions = ["WorkflowType = 'upgradeWorkflow'"];
  if (status !== undefined) conditions.push(statusCondition(status));
  if (bundleId !== undefined) conditions.push(`BundleId = ${quoted(bundleId)}`);
  if (bundleType !== undefined) conditions.push(`BundleType = ${quoted(bundleType)}`);
  return conditions.join(" AND ");
}

/** The running Workflows of resources, which are the locks. */
export function locksQuery(workflowIds: readonly string[]): string {
  return `ExecutionStatus = 'Running' AND WorkflowId IN (${workflowIds.map(quoted).join(", ")})`;
}

/** A terminated Workflow could not say that it failed; its search attribute still says what it was doing. */
function statusCondition(status: string): string {
  const says = `UpgradeStatus = ${quoted(status)}`;
  if (status === "COMPLETED_WITH_FAILURE") {
    return `(${says} OR (${endedWithoutAWord} AND UpgradeStatus NOT IN (${ended.map(quoted).join(", ")})))`;
  }
  return ended.includes(status) ? says : `${says} AND ExecutionStatus = 'Running'`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
