import { WorkflowNotFoundError, type Client } from "@temporalio/client";
import { PayloadReader } from "./memo";

/** How long Temporal may take to answer, in milliseconds. */
const timeout = 5000;

/** The upgrade that runs the Workflow of this ID and so holds its resource; undefined where nobody does. */
export async function readHolder(client: Client, workflowId: string): Promise<string | undefined> {
  try {
    const handle = client.workflow.getHandle(workflowId);
    const { raw, status } = await client.withDeadline(Date.now() + timeout, () => handle.describe());
    if (status.name !== "RUNNING") return undefined;
    const memo = await new PayloadReader(client.options.loadedDataConverter).fields(raw.workflowExecutionInfo?.memo);
    return typeof memo["upgradeId"] === "string" ? memo["upgradeId"] : undefined;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
