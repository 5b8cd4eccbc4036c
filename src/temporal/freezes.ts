import { type Client, WorkflowNotFoundError } from "@temporalio/client";
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from "@temporalio/common";
import * as TE from "fp-ts/TaskEither";
import pLimit from "p-limit";
import { taskQueue } from "../../workflows/messages";
import type { freezeWorkflow } from "../../workflows/freeze-and-hold";
import { Freeze, freezesOf, freezeWorkflowId, isInForce } from "../domain/freeze";
import type { Freezes } from "../upgrades/ports";
import { describeWorkflow, PayloadReader, readAs } from "./describe-workflow";
import { readError, writeError } from "./temporal-error";

/** How long Temporal may take to answer, in milliseconds: a request that begins something waits for it. */
const timeout = 2_500;

/** How many are looked at at the same time. */
const concurrentReads = 16;

/**
 * The freezes that concern something of these domains, that of everything first. Each is one description of a Workflow, which
 * needs no worker and is never older than the last change. Rejects where one cannot be read.
 */
export async function readFreezes(client: Client, domains: readonly string[]): Promise<readonly Freeze[]> {
  const payloads = new PayloadReader(client.options.loadedDataConverter);
  const deadline = Date.now() + timeout;
  const limit = pLimit(concurrentReads);
  const found = await Promise.all(
    freezesOf(domains).map((workflowId) =>
      limit(async () => {
        const description = await describeWorkflow(client, { workflowId }, deadline);
        if (description?.status !== "RUNNING") return [];
        const freeze = readAs(Freeze, await payloads.field(description.memo, "freeze"));
        if (!freeze) throw new Error(`The memo of Workflow ${workflowId} cannot be read`);
        return [freeze];
      }),
    ),
  );
  return found.flat().filter((freeze) => isInForce(freeze, Date.now()));
}

/** The port to freezes as Temporal Workflow executions. */
export function temporalFreezes(client: Client, callTimeout = 4_000): Freezes {
  const bounded = <T>(call: () => Promise<T>) => client.withDeadline(Date.now() + callTimeout, call);
  return {
    read: (domains) => TE.tryCatch(() => readFreezes(client, domains), readError),
    put: (freeze) =>
      TE.tryCatch(async () => {
        await bounded(() =>
          client.workflow.start<typeof freezeWorkflow>("freezeWorkflow", {
            workflowId: freezeWorkflowId(freeze.domain),
            taskQueue,
            args: [freeze],
            // One takes the place of another without a moment in between.
            workflowIdConflictPolicy: WorkflowIdConflictPolicy.TERMINATE_EXISTING,
            workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
            memo: { freeze },
            staticSummary: `Frozen: ${freeze.domain ?? "everything"}`.slice(0, 300),
            staticDetails: `Frozen by \`${freeze.frozenBy.replaceAll("`", "'")}\`: ${freeze.reason}`,
          }),
        );
      }, writeError),
    lift: (domain, liftedBy) =>
      TE.tryCatch(async () => {
        const handle = client.workflow.getHandle(freezeWorkflowId(domain));
        try {
          await bounded(() => handle.terminate(`Lifted by ${liftedBy}`));
        } catch (error) {
          // It has ended, or there was none.
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        }
      }, writeError),
  };
}
