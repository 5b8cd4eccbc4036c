import type { Client, WorkflowExecutionDescription } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import type { Memo } from "./memo";
import { grpcCode, isMissingNamespace } from "./temporal-error";

const { WorkflowExecutionStatus } = temporal.api.enums.v1;
const notFound = 5;

/** A pending Activity as the server tells of it. */
export type RawActivity = NonNullable<WorkflowExecutionDescription["raw"]["pendingActivities"]>[number];

/** What Temporal says of a Workflow execution, with its payloads as they are stored. */
export interface DescribedExecution {
  /** Name of the Workflow, such as `upgradeWorkflow`. */
  readonly type: string;
  /** `RUNNING`, `COMPLETED`, `FAILED` and so on. */
  readonly status: string;
  readonly closeTime: Date | undefined;
  readonly memo: Memo;
  readonly pendingActivities: readonly RawActivity[];
}

/**
 * Describes a Workflow execution, the latest run where none is named; undefined where there is none. The client library's
 * own `describe` decodes the whole memo each time, which of a running cluster nobody reads.
 */
export async function describeExecution(
  client: Client,
  execution: { readonly workflowId: string; readonly runId?: string },
  timeoutMilliseconds: number,
): Promise<DescribedExecution | undefined> {
  const { namespace } = client.options;
  try {
    const { workflowExecutionInfo: info, pendingActivities } = await client.withDeadline(
      Date.now() + timeoutMilliseconds,
      () => client.workflowService.describeWorkflowExecution({ namespace, execution }),
    );
    return {
      type: info?.type?.name ?? "",
      status: (WorkflowExecutionStatus[info?.status ?? 0] ?? "").replace("WORKFLOW_EXECUTION_STATUS_", ""),
      closeTime: info?.closeTime ? new Date(Number(info.closeTime.seconds ?? 0) * 1000) : undefined,
      memo: info?.memo,
      pendingActivities,
    };
  } catch (error) {
    if (grpcCode(error) === notFound && !isMissingNamespace(error)) return undefined;
    throw error;
  }
}
