import type { Client } from "@temporalio/client";
import { describeExecution } from "./described-execution";
import { PayloadReader } from "./memo";

/** How long Temporal may take to answer, in milliseconds. */
const timeout = 5000;

/** The upgrade that runs the Workflow of this ID and so holds its resource; undefined where nobody does. */
export async function readHolder(client: Client, workflowId: string): Promise<string | undefined> {
  const description = await describeExecution(client, { workflowId }, Date.now() + timeout);
  if (description?.status !== "RUNNING") return undefined;
  const upgradeId = await new PayloadReader(client.options.loadedDataConverter).field(description.memo, "upgradeId");
  return typeof upgradeId === "string" ? upgradeId : undefined;
}
