import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import pLimit from "p-limit";
import type { Logger } from "pino";
import type { ErrorBody } from "../domain/errors";
import {
  blockedError,
  type BlockedWorkflow,
  failuresUntilBlocked,
  type WorkflowKind,
  workflowKinds,
} from "../domain/task/lost-upgrade";
import { oneLine } from "../startup-error";
import type { Timers } from "../upgrades/ports";
import { type WorkflowDescription, describeWorkflow, PayloadReader, timestampOf } from "./describe-workflow";
import { grpcCode } from "./temporal-error";
import { reportedWorkflowsQuery, runningWorkflowsQuery, type Visibility, visibilityOf } from "./visibility";

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
  async find(workflowId: string, description: WorkflowDescription): Promise<BlockedWorkflow | undefined> {
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

  private async upgradeOf(workflowId: string, kind: BlockedWorkflow["kind"], { memo }: WorkflowDescription) {
    if (kind === "upgrade" || kind === "readiness") return workflowId;
    if (kind === "notifications") return workflowId.replace(/^notify\/([^/]*).*/, "$1");
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

interface WatchOptions {
  /** Milliseconds from the end of one look to the next. */
  readonly pause: number;
  /** How many running Workflows one look describes at most, beside those that are known to be blocked. */
  readonly size: number;
  /** Milliseconds for one call to Temporal. */
  readonly callTimeout: number;
}

const defaults: WatchOptions = { pause: 10_000, size: 50, callTimeout: 4_000 };

/** How many Workflows are described at the same time: a few, because nobody waits for it. */
const concurrentDescriptions = 4;
/** How many upgrades the readiness names; the metrics count all. */
const namedUpgrades = 10;
/** The gRPC status with which a server answers a query for a search attribute that it does not have. */
const invalidArgument = 3;

interface Run {
  readonly workflowId: string;
  readonly runId: string;
}

/**
 * Looks for blocked Workflows, so that metrics, readiness and the log report them without anybody reading their Tasks.
 * Newer Temporal servers (1.32 does, 1.29 does not) list the Workflows whose tasks fail. With an older one, such as the
 * embedded server, the running Workflows are described in turn, a bounded number at a time: with 1,000 of them one is found within four minutes.
 */
export class BlockedWatch {
  private readonly finder: BlockFinder;
  private readonly visibility: Visibility;
  private readonly options: WatchOptions;
  private readonly blocked = new Map<string, BlockedWorkflow>();
  /** Whether the last look succeeded. */
  private isCurrent = false;
  /** The list that is being walked through, and where. */
  private place: { readonly query: string; readonly token: Uint8Array } | undefined;
  private cancel: () => void = () => undefined;
  private isClosed = false;

  constructor(
    private readonly client: Client,
    private readonly log: Logger,
    private readonly timers: Timers,
    options: Partial<WatchOptions> = {},
  ) {
    this.options = { ...defaults, ...options };
    this.finder = new BlockFinder(client, this.options.callTimeout);
    this.visibility = visibilityOf(client, this.options.callTimeout);
  }

  /** Looks at once, and again after each pause until `close`. */
  start(): void {
    void this.look().finally(() => {
      if (!this.isClosed) this.cancel = this.timers.after(this.options.pause, () => this.start());
    });
  }

  close(): void {
    this.isClosed = true;
    this.cancel();
  }

  /** How many Workflows of each kind are blocked; undefined while Temporal does not tell. */
  counts(): Readonly<Record<WorkflowKind, number>> | undefined {
    if (!this.isCurrent) return undefined;
    const counts = { upgrade: 0, cluster: 0, netvirt: 0, mgmt: 0, notifications: 0, readiness: 0 };
    for (const { kind } of this.blocked.values()) counts[kind] += 1;
    return counts;
  }

  /** What the service does less well because of them, for its readiness: nothing, or one error that names their upgrades. */
  problems(): ErrorBody[] {
    const all = [...this.blocked.values()];
    if (all.length === 0) return [];
    const upgrades = [...new Set(all.map(({ upgradeId }) => upgradeId))];
    const named = upgrades.slice(0, namedUpgrades).join(", ");
    const more = upgrades.length > namedUpgrades ? ` and ${upgrades.length - namedUpgrades} more` : "";
    return [
      {
        errorCode: "WORKFLOW_BLOCKED",
        errorType: "INTERNAL",
        message: `${all.length === 1 ? "1 Workflow is" : `${all.length} Workflows are`} blocked, of upgrade ${named}${more}. All other upgrades continue.`,
        remediationMessage: `Read the Task of each. See "A Workflow is blocked" in docs/operating.md.`,
        context: { workflows: String(all.length), upgradeIds: upgrades.slice(0, namedUpgrades).join(",") },
      },
    ];
  }

  /** One look. Never rejects: where Temporal does not answer, the next look tries again. */
  private async look(): Promise<void> {
    try {
      const listed = await this.nextRuns();
      const runs = new Map([...this.blocked.values(), ...listed].map((run) => [run.runId, run]));
      const limit = pLimit(concurrentDescriptions);
      await Promise.all([...runs.values()].map((run) => limit(() => this.lookAt(run))));
      this.isCurrent = true;
    } catch (error) {
      this.isCurrent = false;
      this.place = undefined;
      this.log.debug({ reason: oneLine(error) }, "Could not search for blocked Workflows");
    }
  }

  /** Where Temporal does not describe one in time, what was known of it holds until the next look. */
  private async lookAt(run: Run): Promise<void> {
    const { workflowId, runId } = run;
    const deadline = Date.now() + this.options.callTimeout;
    let found: BlockedWorkflow | undefined;
    try {
      const description = await describeWorkflow(this.client, run, deadline);
      found = description && (await this.finder.find(workflowId, description));
    } catch (error) {
      this.log.debug({ workflowId, runId, reason: oneLine(error) }, "Could not check whether a Workflow is blocked");
      return;
    }
    const before = this.blocked.get(runId);
    if (!found) {
      this.blocked.delete(runId);
      if (before) this.log.info({ taskId: before.upgradeId, workflowId, runId }, "Workflow is no longer blocked");
      return;
    }
    this.blocked.set(runId, found);
    if (before) return;
    const { message, remediationMessage, errorCode } = blockedError(found);
    this.log.error({ taskId: found.upgradeId, workflowId, runId, errorCode, remediationMessage }, message);
  }

  /** The Workflows that the server reports, or the next ones of all that run. */
  private async nextRuns(): Promise<readonly Run[]> {
    if (this.place) return this.page(this.place.query, this.place.token);
    try {
      return await this.page(reportedWorkflowsQuery, undefined);
    } catch (error) {
      if (grpcCode(error) !== invalidArgument) throw error;
      return this.page(runningWorkflowsQuery(Object.keys(workflowKinds)), undefined);
    }
  }

  private async page(query: string, token: Uint8Array | undefined): Promise<readonly Run[]> {
    const { size, callTimeout } = this.options;
    const { executions, nextToken } = await this.visibility.list(query, size, token, Date.now() + callTimeout);
    this.place = nextToken && { query, token: nextToken };
    return executions.map(({ execution }) => ({
      workflowId: execution?.workflowId ?? "",
      runId: execution?.runId ?? "",
    }));
  }
}
