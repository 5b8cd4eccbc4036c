import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from "@temporalio/common";
import * as TE from "fp-ts/TaskEither";
import pLimit from "p-limit";
import type { holdWorkflow } from "../../workflows/freeze-and-hold";
import { taskQueue } from "../../workflows/messages";
import { isInForce } from "../domain/freeze";
import { Hold, type HoldTarget, holdWorkflowId } from "../domain/hold";
import type { Holds } from "../upgrades/ports";
import { describeWorkflow, PayloadReader, readAs } from "./describe-workflow";
import { readError, writeError } from "./temporal-error";

/** How long Temporal may take to answer, in milliseconds: a request that begins something waits for it. */
const timeout = 2_500;

/** How many are looked at at the same time. */
const concurrentReads = 16;

/** How many the list shows at most. */
const mostListed = 1_000;

/**
 * The holds of these clusters and hosts. Each is one description of a Workflow, which needs no worker and is never older than the
 * last change. Rejects where one cannot be read.
 */
export async function readHolds(client: Client, targets: readonly HoldTarget[]): Promise<readonly Hold[]> {
  const payloads = new PayloadReader(client.options.loadedDataConverter);
  const deadline = Date.now() + timeout;
  const limit = pLimit(concurrentReads);
  const found = await Promise.all(
    [...new Set(targets.map(holdWorkflowId))].map((workflowId) =>
      limit(async () => {
        const description = await describeWorkflow(client, { workflowId }, deadline);
        if (description?.status !== "RUNNING") return [];
        const hold = readAs(Hold, await payloads.field(description.memo, "hold"));
        if (!hold) throw new Error(`The memo of Workflow ${workflowId} cannot be read`);
        return [hold];
      }),
    ),
  );
  return found.flat().filter((hold) => isInForce(hold, Date.now()));
}

/** All holds by Visibility, which learns of a change a moment after it. Rejects where it does not answer. */
export function listHolds(client: Client): Promise<readonly Hold[]> {
  return client.withDeadline(Date.now() + timeout, async () => {
    const holds = new Map<string, Hold>();
    const query = 'WorkflowType = "holdWorkflow" AND ExecutionStatus = "Running"';
    for await (const { workflowId, memo } of client.workflow.list({ query })) {
      const hold = readAs(Hold, memo?.["hold"]);
      // The newest comes first, and has taken the place of those that follow.
      if (hold && !holds.has(workflowId)) holds.set(workflowId, hold);
      if (holds.size >= mostListed) break;
    }
    return [...holds.values()].filter((hold) => isInForce(hold, Date.now()));
  });
}

/** The port to holds as Temporal Workflow executions. */
export function temporalHolds(client: Client, callTimeout = 4_000): Holds {
  const bounded = <T>(call: () => Promise<T>) => client.withDeadline(Date.now() + callTimeout, call);
  return {
    read: (targets) => TE.tryCatch(() => readHolds(client, targets), readError),
    list: () => TE.tryCatch(() => listHolds(client), readError),
    put: (hold, { replaces }) =>
      TE.tryCatch(async () => {
        const what = hold.hostId === undefined ? hold.clusterName : (hold.hostName ?? hold.hostId);
        const start = (isToReplace: boolean) =>
          bounded(() =>
            client.workflow.start<typeof holdWorkflow>("holdWorkflow", {
              workflowId: holdWorkflowId(hold),
              taskQueue,
              args: [hold],
              // One takes the place of another without a moment in between.
              workflowIdConflictPolicy: isToReplace
                ? WorkflowIdConflictPolicy.TERMINATE_EXISTING
                : WorkflowIdConflictPolicy.FAIL,
              workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
              memo: { hold },
              staticSummary: `Held: ${what}`.slice(0, 300),
              staticDetails: `Held by \`${hold.placedBy.replaceAll("`", "'")}\`: ${hold.reason}`,
            }),
          );
        try {
          await start(replaces);
        } catch (error) {
          if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
          if ((await readHolds(client, [hold])).length > 0) return "TAKEN";
          // Its time has come, and no worker has ended it yet.
          await start(true);
        }
        return "PLACED";
      }, writeError),
    release: (target, releasedBy) =>
      TE.tryCatch(async () => {
        const handle = client.workflow.getHandle(holdWorkflowId(target));
        try {
          await bounded(() => handle.terminate(`Released by ${releasedBy}`));
        } catch (error) {
          // It has ended, or there was none.
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        }
      }, writeError),
  };
}
