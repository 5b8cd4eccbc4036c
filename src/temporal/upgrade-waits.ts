import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { isRight } from "fp-ts/Either";
import pLimit from "p-limit";
import type { PendingWait } from "../../activities/contract";
import { ErrorBody } from "../domain/errors";
import { blockedError } from "../domain/task/lost-upgrade";
import { HealthWait } from "../domain/task/pending-activity";
import { BlockFinder } from "./blocked-workflows";
import { describeWorkflow, PayloadReader, type RawActivity, type WorkflowDescription } from "./describe-workflow";

const { PendingActivityState } = temporal.api.enums.v1;

/** How long Temporal may take to answer, in milliseconds. */
const timeout = 5000;

/** How many Workflows are described at the same time. */
const concurrentReads = 16;

/** How many waits are told of: what one upgrade waits for is mostly one thing. */
const mostWaits = 20;

/** Steps that wait by design, or that look at the waits. */
const ignored: ReadonlySet<string> = new Set(["readUpgradeWaits"]);

/**
 * Reads what running parts of an upgrade wait for, from what Temporal says of their Workflows: health gates, steps that fail
 * and are tried again, steps that no worker has taken, Workflows that are blocked. A step that waits within its own run, such
 * as for a component manager that is away in the middle of a remediation, looks like one that works.
 */
export async function readWaits(client: Client, upgradeId: string): Promise<readonly PendingWait[]> {
  const payloads = new PayloadReader(client.options.loadedDataConverter);
  const blocks = new BlockFinder(client, timeout);
  const describe = (execution: { readonly workflowId: string; readonly runId?: string }) =>
    describeWorkflow(client, execution, Date.now() + timeout);
  const upgrade = await describe({ workflowId: upgradeId });
  if (upgrade?.status !== "RUNNING") return [];
  const resources = upgrade.pendingChildren.filter(({ type }) => type !== "notifyWorkflow");
  const limit = pLimit(concurrentReads);
  const ofResources = await Promise.all(
    resources.map(({ workflowId, runId }) =>
      limit(async () => {
        const resource = await describe({ workflowId, runId });
        return resource ? waitsIn(workflowId, resource, { payloads, blocks }) : [];
      }),
    ),
  );
  const own = await waitsIn(upgradeId, upgrade, { payloads, blocks });
  return [...own, ...ofResources.flat()].slice(0, mostWaits);
}

async function waitsIn(
  workflowId: string,
  description: WorkflowDescription,
  { payloads, blocks }: { readonly payloads: PayloadReader; readonly blocks: BlockFinder },
): Promise<readonly PendingWait[]> {
  // An upgrade's id is the whole Workflow ID.
  const [, resourceId] = /^[a-z]+\/(.*)$/s.exec(workflowId) ?? [];
  const resource = resourceId === undefined ? {} : { resourceId };
  const blocked = await blocks.find(workflowId, description);
  if (blocked) {
    const { message } = blockedError(blocked);
    return [{ key: workflowId, wait: { code: "WORKFLOW_TASK_FAILING", message, ...resource } }];
  }
  const waits = await Promise.all(
    description.pendingActivities.map(async (pending) => {
      const wait = await waitOf(pending, payloads);
      const key = `${workflowId} ${pending.activityId ?? ""}`;
      return wait ? [{ key, ...wait, wait: { ...wait.wait, ...resource } }] : [];
    }),
  );
  return waits.flat();
}

async function waitOf(pending: RawActivity, payloads: PayloadReader): Promise<Omit<PendingWait, "key"> | undefined> {
  const type = pending.activityType?.name ?? "";
  const attempt = pending.attempt ?? 1;
  if (ignored.has(type)) return undefined;
  if (type === "awaitClusterHealth") {
    const wait = HealthWait.decode(await payloads.value(pending.heartbeatDetails?.payloads?.[0]));
    const message = isRight(wait) ? wait.right.waitingFor : "for the cluster to be healthy.";
    return { wait: { code: "HEALTH_GATE", message: `Waiting ${message}` } };
  }
  if (attempt > 1 && pending.lastFailure) {
    const details = await payloads.value(pending.lastFailure.applicationFailureInfo?.details?.payloads?.[0]);
    const error = typeof details === "object" && details !== null && "error" in details ? details.error : undefined;
    const known = ErrorBody.decode(error);
    const message = isRight(known) ? known.right.message : `Activity ${type} keeps failing and is retried.`;
    return { attempt, wait: { code: "RETRY", message } };
  }
  if (pending.state !== PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED) return undefined;
  return { wait: { code: "WORKER", message: `No worker has started Activity ${type}.` } };
}
