import { WorkflowNotFoundError, type Client } from "@temporalio/client";
import type { LostBecause } from "../domain/lost-upgrade";
import { lostBecause } from "./workflow-end";

/** How long Temporal may take to answer, in milliseconds. */
const timeout = 5000;

/** How the Workflow of an upgrade has ended without a word; undefined where it runs, has told its end, or is not known. */
export async function readLoss(client: Client, upgradeId: string): Promise<LostBecause | undefined> {
  try {
    const handle = client.workflow.getHandle(upgradeId);
    const { status } = await client.withDeadline(Date.now() + timeout, () => handle.describe());
    return lostBecause(status.name);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
