import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { failuresUntilBlocked, workflowKinds, type BlockedWorkflow } from "../domain/blocked-workflow";
import { oneLine } from "../startup-error";
import type { DescribedExecution } from "./described-execution";
import { PayloadReader } from "./memo";
import { timestampOf } from "./server-time";

const { EventType, TimeoutType, WorkflowTaskFailedCause } = temporal.api.enums.v1;

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
type Failure = temporal.api.failure.v1.IFailure;

/** How far back failed tries are looked for, in events. */
const eventsRead = 100;
/** The longest reason that is shown, in UTF-16 units: what failed is in its first words. */
const longestReason = 400;
/** How many blocked runs are remembered. */
const rememberedRuns = 1000;

/** Ends of Workflow Tasks that say nothing about the Workflow: a Signal came as it was about to end, or it was reset. */
const harmless: ReadonlySet<number | null | undefined> = new Set([
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_RESET_WORKFLOW,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
  WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_FAILOVER_CLOSE_COMMAND,
]);

/**
 * Tells whether running Workflows are blocked. A description alone cannot: the server counts tries anew whenever something
 * reaches the Workflow, as the reports of its hosts do. So where tries have failed, the end of the history is read as well.
 */
export class BlockFinder {
  private readonly payloads: PayloadReader;
  /** Runs that were blocked when they were last looked at. */
  private readonly blocked = new Map<string, BlockedWorkflow>();

  constructor(
    private readonly client: Client,
    /** Milliseconds for one call to Temporal. */
    private readonly callTimeout: number,
  ) {
    this.payloads = new PayloadReader(client.options.loadedDataConverter);
  }

  /**
   * Undefined where the Workflow is not blocked. Where Temporal does not tell in time, what was known before holds. Never
   * rejects.
   */
  async find(workflowId: string, description: DescribedExecution): Promise<BlockedWorkflow | undefined> {
    const { runId, type, status, workflowTaskAttempt: attempt } = description;
    const kind = workflowKinds[type as keyof typeof workflowKinds] as BlockedWorkflow["kind"] | undefined;
    if (kind === undefined || status !== "RUNNING" || (attempt < 2 && !this.blocked.has(runId))) {
      this.blocked.delete(runId);
      return undefined;
    }
    const tail = await this.readTail(workflowId, runId);
    if (!tail) return this.blocked.get(runId);
    const recorded = failedTries(tail);
    const last = recorded.at(-1);
    // Of tries that follow each other at once the server records the first.
    const failures = recorded.length + Math.max(0, attempt - 2);
    if (!last || failures < failuresUntilBlocked) {
      this.blocked.delete(runId);
      return undefined;
    }
    const since = this.blocked.get(runId)?.since ?? timestampOf(recorded[0]?.eventTime);
    const [upgradeId, reason] = await Promise.all([this.upgradeOf(workflowId, kind, description), this.reasonOf(last)]);
    const timedOut = !last.workflowTaskFailedEventAttributes;
    const found = { workflowId, runId, kind, upgradeId, failures, timedOut, reason };
    return this.remember({ ...found, ...(since !== undefined && { since }) });
  }

  /** The last events, the latest first. */
  private async readTail(workflowId: string, runId: string): Promise<readonly HistoryEvent[] | undefined> {
    const { namespace } = this.client.options;
    try {
      const { history } = await this.client.withDeadline(Date.now() + this.callTimeout, () =>
        this.client.workflowService.getWorkflowExecutionHistoryReverse({
          namespace,
          execution: { workflowId, runId },
          maximumPageSize: eventsRead,
        }),
      );
      return history?.events ?? [];
    } catch {
      return undefined;
    }
  }

  private remember(found: BlockedWorkflow): BlockedWorkflow {
    this.blocked.set(found.runId, found);
    const oldest = this.blocked.keys().next().value;
    if (this.blocked.size > rememberedRuns && oldest !== undefined) this.blocked.delete(oldest);
    return found;
  }

  private async upgradeOf(workflowId: string, kind: BlockedWorkflow["kind"], { memo }: DescribedExecution) {
    if (kind === "upgrade") return workflowId;
    if (kind === "notifications") return workflowId.replace(/^notify\//, "");
    const upgradeId = await this.payloads.field(memo, "upgradeId").catch(() => undefined);
    return typeof upgradeId === "string" ? upgradeId : "";
  }

  private async reasonOf({ workflowTaskFailedEventAttributes: failed }: HistoryEvent): Promise<string> {
    if (!failed) return "no worker completed it in time";
    const message = failed.failure && (await this.messageOf(failed.failure));
    const cause = (WorkflowTaskFailedCause[failed.cause ?? 0] ?? "").replace("WORKFLOW_TASK_FAILED_CAUSE_", "");
    return oneLine(message || cause).slice(0, longestReason);
  }

  /** Where payloads are encrypted, so is the message. */
  private async messageOf({ message, encodedAttributes }: Failure): Promise<string> {
    const decoded: unknown = encodedAttributes && (await this.payloads.value(encodedAttributes).catch(() => undefined));
    const isDecoded = typeof decoded === "object" && decoded !== null && "message" in decoded;
    return isDecoded ? String(decoded.message) : (message ?? "");
  }
}

/** The recorded failed tries since the last Workflow Task that was completed, in their order; `events` begin with the latest. */
function failedTries(events: readonly HistoryEvent[]): HistoryEvent[] {
  const completed = events.findIndex(({ eventType }) => eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED);
  return (completed < 0 ? [...events] : events.slice(0, completed)).filter(isFailedTry).reverse();
}

/** A task that no worker has taken is no try; one that its worker did not complete, overloaded or dead, is. */
function isFailedTry({
  workflowTaskFailedEventAttributes: failed,
  workflowTaskTimedOutEventAttributes: late,
}: HistoryEvent) {
  if (failed) return !harmless.has(failed.cause);
  return late?.timeoutType === TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE;
}
