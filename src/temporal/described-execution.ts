import type { Client, WorkflowExecutionDescription } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import type { Memo } from "./memo";
import type { HistoryLength } from "../domain/upgrade-request";
import { timestampOf } from "./server-time";
import { grpcCode, isMissingNamespace } from "./temporal-error";

const { WorkflowExecutionStatus } = temporal.api.enums.v1;
const notFound = 5;

type ExecutionInfo = WorkflowExecutionDescription["raw"]["workflowExecutionInfo"];

/** A pending Activity as the server tells of it. */
export type RawActivity = NonNullable<WorkflowExecutionDescription["raw"]["pendingActivities"]>[number];

/** What Temporal says of a Workflow execution, with its payloads as they are stored. */
export interface DescribedExecution {
  /** Name of the Workflow, such as `upgradeWorkflow`. */
  readonly type: string;
  /** `RUNNING`, `COMPLETED`, `FAILED` and so on. */
  readonly status: string;
  /** Of the run that was described; a reset gives a Workflow another. */
  readonly runId: string;
  /**
   * Names the state of the Workflow: its run, and how many events its history has. Every change of state is an event, so
   * that two equal versions are the same state. Undefined where the server does not count them.
   */
  readonly version: string | undefined;
  /** Of the run that was described. */
  readonly history: HistoryLength;
  /** A Timestamp; undefined of one that runs. */
  readonly closeTime: string | undefined;
  /** Whether somebody has had it cancelled; it may still be on its way to its safe end. */
  readonly cancelRequested: boolean;
  readonly memo: Memo;
  /** The Workflow ID of its parent; undefined where it has none. */
  readonly parent: string | undefined;
  /** Which try of its Workflow Task waits for a worker or is with one; 0 where none is. From 2 on, tries have failed. */
  readonly workflowTaskAttempt: number;
  /** Children that have not ended. */
  readonly pendingChildren: readonly { readonly workflowId: string; readonly runId: string; readonly type: string }[];
  readonly pendingActivities: readonly RawActivity[];
}

/**
 * Describes a Workflow execution, the latest run where none is named; undefined where there is none. The client library's
 * own `describe` decodes the whole memo each time, which of a running cluster nobody reads. `deadline` in epoch
 * milliseconds; rejects with the error of gRPC where the server does not answer by then, or has no such namespace.
 */
export async function describeExecution(
  client: Client,
  execution: { readonly workflowId: string; readonly runId?: string },
  deadline: number,
): Promise<DescribedExecution | undefined> {
  const { namespace } = client.options;
  try {
    const {
      workflowExecutionInfo: info,
      workflowExtendedInfo: extended,
      pendingActivities,
      pendingChildren,
      pendingWorkflowTask,
    } = await client.withDeadline(deadline, () =>
      client.workflowService.describeWorkflowExecution({ namespace, execution }),
    );
    return {
      type: info?.type?.name ?? "",
      status: (WorkflowExecutionStatus[info?.status ?? 0] ?? "").replace("WORKFLOW_EXECUTION_STATUS_", ""),
      runId: info?.execution?.runId ?? "",
      version: versionOf(info),
      history: { events: Number(info?.historyLength ?? 0), bytes: Number(info?.historySizeBytes ?? 0) },
      closeTime: timestampOf(info?.closeTime),
      cancelRequested: extended?.cancelRequested === true,
      memo: info?.memo,
      parent: info?.parentExecution?.workflowId ?? undefined,
      workflowTaskAttempt: pendingWorkflowTask?.attempt ?? 0,
      pendingChildren: pendingChildren.map(({ workflowId, runId, workflowTypeName }) => ({
        workflowId: workflowId ?? "",
        runId: runId ?? "",
        type: workflowTypeName ?? "",
      })),
      pendingActivities,
    };
  } catch (error) {
    if (grpcCode(error) === notFound && !isMissingNamespace(error)) return undefined;
    throw error;
  }
}

function versionOf(info: ExecutionInfo): string | undefined {
  const [runId, events] = [info?.execution?.runId ?? "", String(info?.historyLength ?? 0)];
  return runId !== "" && events !== "0" ? `${runId}/${events}` : undefined;
}
