import type { Client } from "@temporalio/client";

/** A Workflow as the server stores it: all events with their payloads as bytes, and its memo. */
export async function rawWorkflow(client: Client, workflowId: string, runId = ""): Promise<unknown> {
  const { namespace } = client.options;
  const execution = { workflowId, runId };
  const events: unknown[] = [];
  let nextPageToken = new Uint8Array();
  do {
    const page = await client.workflowService.getWorkflowExecutionHistory({ namespace, execution, nextPageToken });
    events.push(...(page.history?.events ?? []));
    nextPageToken = Uint8Array.from(page.nextPageToken);
  } while (nextPageToken.length > 0);
  return { events, described: await client.workflowService.describeWorkflowExecution({ namespace, execution }) };
}

/** Every text in a value, bytes included, one a line. */
export function textIn(value: unknown): string {
  if (typeof value === "string") return `${value}\n`;
  if (value instanceof Uint8Array) return `${Buffer.from(value).toString("latin1")}\n`;
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .map(([name, its]) => `${name}\n${textIn(its)}`)
    .join("");
}

/** The ids of the Workflows of a namespace, of which there are few. */
export async function allRuns(client: Client): Promise<{ workflowId: string; runId: string }[]> {
  const { namespace } = client.options;
  const { executions } = await client.workflowService.listWorkflowExecutions({ namespace, pageSize: 1000 });
  return executions.map(({ execution }) => ({
    workflowId: execution?.workflowId ?? "",
    runId: execution?.runId ?? "",
  }));
}
