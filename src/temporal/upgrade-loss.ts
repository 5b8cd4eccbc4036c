import type { Client } from "@temporalio/client";
import type { LostBecause } from "../domain/lost-upgrade";
import { describeExecution } from "./described-execution";
import { lostBecause } from "./workflow-end";

/** How long Temporal may take to answer, in milliseconds. */
const timeout = 5000;

/** How the Workflow of an upgrade has ended without a word; undefined where it runs, has told its end, or is not known. */
export async function readLoss(client: Client, upgradeId: string): Promise<LostBecause | undefined> {
  const description = await describeExecution(client, { workflowId: upgradeId }, Date.now() + timeout);
  return description && lostBecause(description.status);
}
