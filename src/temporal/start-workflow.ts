import { WorkflowIdReusePolicy, type Client } from "@temporalio/client";
import { initialTask } from "../domain/task-progress";
import { resourcesOf, type UpgradePlan } from "../domain/upgrade-plan";
import { upgradeView } from "../domain/upgrade-view";
import type { StartOrigin as AskedBy } from "../upgrades/ports";
import { taskQueue, type UpgradeMemo } from "../../workflows/messages";
import {
  bundleIdKey,
  bundleTypeKey,
  resourceIdsKey,
  taskStatusKey,
  upgradeStatusKey,
} from "../../workflows/search-attributes";
import type { upgradeWorkflow } from "../../workflows/upgrade-workflow";

/** Who starts an upgrade, and by which request. */
type StartOrigin = AskedBy & { readonly requestId?: string };

/** Starts the Workflow with all that lists and readers need before a worker has seen it. */
export async function startWorkflow(client: Client, plan: UpgradePlan, origin: StartOrigin): Promise<void> {
  const upgrade = upgradeView(plan);
  const task = initialTask(plan);
  const memo: UpgradeMemo = { upgrade, task, children: [], publishedAt: plan.creationTimestamp, ...origin };
  const resources = resourcesOf(plan);
  await client.workflow.start<typeof upgradeWorkflow>("upgradeWorkflow", {
    workflowId: plan.id,
    taskQueue,
    args: [plan],
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    memo: { ...memo },
    typedSearchAttributes: [
      { key: upgradeStatusKey, value: upgrade.status ?? "PENDING" },
      { key: taskStatusKey, value: task.status },
      { key: bundleIdKey, value: plan.bundle.id },
      ...(plan.bundle.type === undefined ? [] : [{ key: bundleTypeKey, value: plan.bundle.type }]),
      { key: resourceIdsKey, value: searchable(resources.map(({ resourceId }) => resourceId)) },
    ],
    staticSummary: summaryOf(plan),
    staticDetails: detailsOf(plan, origin),
  });
}

/**
 * As many of the ids as the server takes for one search attribute, which is 2,048 bytes of JSON. Of a larger upgrade the
 * rest is found by the Workflows of its resources, each of which has its own id there.
 */
function searchable(ids: readonly string[]): string[] {
  let bytes = 1;
  return ids.filter((id) => (bytes += Buffer.byteLength(JSON.stringify(id)) + 1) <= 2048);
}

/** At most 400 bytes, which is what the server takes. */
function summaryOf({ name, draft }: UpgradePlan): string {
  const summary = `${name}${draft ? " (draft)" : ""}`;
  return Buffer.byteLength(summary) <= 400 ? summary : `${Buffer.from(summary).subarray(0, 390).toString()}…`;
}

/** Markdown, at most 20,000 bytes: the first clusters by name, the rest by number. */
function detailsOf(plan: UpgradePlan, { requestedBy, requestId }: StartOrigin): string {
  const resources = resourcesOf(plan);
  const shown = resources.slice(0, 50).map(({ name, resourceId, targetVersion, attempts, scheduledTimestamp }) => {
    const when = scheduledTimestamp === undefined ? "" : `, not before ${scheduledTimestamp}`;
    return `- **${name.slice(0, 100)}** (${resourceId.slice(0, 100)}) to ${targetVersion.slice(0, 60)}, attempts: ${attempts.maximumAttempts}${when}`;
  });
  const more = resources.length > 50 ? [`- and ${resources.length - 50} more`] : [];
  return [
    `Bundle \`${plan.bundle.id.slice(0, 255)}\` on ${resources.length} resource(s), in this order:`,
    "",
    ...shown,
    ...more,
    "",
    `Requested by \`${requestedBy.replaceAll("`", "'").slice(0, 255)}\``,
    ...(requestId === undefined ? [] : ["", `Request id: \`${requestId}\``]),
    // The Web UI makes room by the lines that there are, and cuts off what does not fit.
    ...["", "\u00a0", "", "\u00a0"],
  ].join("\n");
}
