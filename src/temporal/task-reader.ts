import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { isRight } from "fp-ts/Either";
import * as t from "io-ts";
import pLimit from "p-limit";
import { subTaskQuery, taskWithChildrenQuery } from "../../workflows/messages";
import { CoalescedCalls } from "../coalesced-calls";
import { ErrorBody } from "../domain/errors";
import { notifyWorkflowId } from "../domain/notifications/upgrade-notification";
import { SubTask, type Task } from "../domain/spec/task";
import { type BlockedWorkflow, hasTaskEnded, lostTask, withBlocked } from "../domain/task/lost-upgrade";
import type { PendingActivity } from "../domain/task/pending-activity";
import { hasEndedPart } from "../domain/task/sub-task";
import { endedResources, partsIn } from "../domain/task/task-change";
import { withResources } from "../domain/task/task-progress";
import { Timestamp, toTimestamp } from "../domain/timestamp";
import { BlockFinder } from "./blocked-workflows";
import {
  AnsweredSubTask,
  describeWorkflow,
  hasLastWord,
  lostBecause,
  PayloadReader,
  type RawActivity,
  readAs,
  StoredTask,
  StoredUpgrade,
  type TaskWithChildren,
  timestampOf,
  type WorkflowDescription,
} from "./describe-workflow";
import { HeartbeatOverlay, QueryCache } from "./query-cache";

const { PendingActivityState } = temporal.api.enums.v1;

/**
 * How many children of one Task are read at the same time. Twice as many take as long together, and each call twice as
 * long: nearer to its deadline where the server is busy.
 */
const concurrentChildren = 32;
/** How many SubTasks the answers hold that are remembered: of upgrades, and of their resources. Each takes some 3 KB. */
const rememberedParts = { upgrades: 10_000, resources: 20_000 };

/** Children of an upgrade that has notifications. */
const notificationTypes: ReadonlySet<string> = new Set(["notifyWorkflow", "watchUpgradeWorkflow"]);

type Child = NonNullable<TaskWithChildren["children"]>[number];

/** What is known of a Workflow. `asOf`, a Timestamp, where that may be older than the read. */
interface Known<A> {
  readonly value: A;
  readonly asOf?: string | undefined;
}

/** A resource, and its Workflow where that is blocked. */
interface ChildRead extends Known<SubTask> {
  readonly blocked: BlockedWorkflow | undefined;
}

/** Milliseconds. */
interface ReadTimeouts {
  readonly call: number;
  /** How long a Workflow may take to answer a Query: longer than a read waits, because the next read uses it. */
  readonly query: number;
  /** How long a read waits for the answers of Workflows before it shows what was last known. */
  readonly answers: number;
}

/**
 * Reads Tasks. A running upgrade answers by Query, and so do its running children, each once for every state that it is
 * in; what their pending Activities say of hosts in work is grafted in. What has closed is read from its memo. What does not
 * answer in time, because its workers are busy or gone, is shown as last known, and the Task says as of when: by its last
 * answer or by its memo, whichever is newer, and so a Task does not go back. An answer that comes late is there for the next
 * read. What has not changed from one read to the next stays the same object, so that it need not be encoded again.
 * A Workflow that is blocked does not answer either, and is put on the Task with what to do.
 */
export class TaskReader {
  private readonly reader: PayloadReader;
  private readonly reads = new CoalescedCalls<Task | undefined>();
  /** By run. Each Workflow is asked once at a time, so that its answers come in their order. */
  private readonly queries = new CoalescedCalls<unknown>();
  /** By upgrade, of those that ran when they were last read. */
  private readonly upgrades = new QueryCache<TaskWithChildren>(rememberedParts.upgrades, ({ task }) => partsIn(task));
  /** By run. */
  private readonly resources = new QueryCache<SubTask>(rememberedParts.resources, partsIn);
  private readonly heartbeats = new HeartbeatOverlay();
  private readonly blocks: BlockFinder;

  constructor(
    private readonly client: Client,
    private readonly timeouts: ReadTimeouts,
  ) {
    this.reader = new PayloadReader(client.options.loadedDataConverter);
    this.blocks = new BlockFinder(client, timeouts.call);
  }

  /**
   * The Task as it is when this is called or later, or undefined where there is no such upgrade. Readers that come while
   * one reads share the read after it.
   */
  read(id: string): Promise<Task | undefined> {
    return this.reads.share(id, () => this.compose(id));
  }

  /**
   * An upgrade that ran a moment ago most likely still does, with the same children: all of them are read at once then.
   */
  private async compose(id: string): Promise<Task | undefined> {
    const reads: Promise<unknown>[] = [];
    try {
      return await this.composeOf(id, reads);
    } finally {
      // Also where it has failed: what one of them remembers must not come after what the next read has told.
      await Promise.allSettled(reads);
    }
  }

  /** Adds all reads of children to `reads`. */
  private async composeOf(id: string, reads: Promise<unknown>[]): Promise<Task | undefined> {
    const until = performance.now() + this.timeouts.answers;
    const limit = pLimit(concurrentChildren);
    const readChild = (child: Child) => {
      const outcome = limit(() => this.readChild(child, id, until));
      // Whoever needs it may come to it later than it fails.
      outcome.catch(() => undefined);
      reads.push(outcome);
      return outcome;
    };
    const before = this.upgrades.latest(id)?.children ?? [];
    const foreseen = new Map(before.map((child) => [child.runId, readChild(child)]));
    const description = await this.describe({ workflowId: id });
    if (description?.type !== "upgradeWorkflow") return undefined;
    const running = description.status === "RUNNING";
    const [own, ofNotifications] = await Promise.all([
      this.blocks.find(id, description),
      this.findBlockedNotifications(id, description),
    ]);
    const answer = running && !own ? await this.upgradeAnswer(id, description, until) : undefined;
    if (hasLastWord(description.status)) this.forget(id);
    const known = answer ? { value: answer } : await this.lastKnown(id, description);
    const ended = endedResources(known.value.task);
    const details = new Map<string, SubTask>();
    const dates = known.asOf === undefined ? [] : [known.asOf];
    const blocked = [own, ofNotifications].filter((one) => one !== undefined);
    await Promise.all(
      (known.value.children ?? []).map(async (child) => {
        const early = await foreseen.get(child.runId);
        // It was read before its upgrade was, and has ended between the two.
        const isLate = early && !hasEndedPart(early.value) && ended.has(child.resourceId);
        const found = early && !isLate ? early : await readChild(child);
        if (found) details.set(child.resourceId, found.value);
        if (found?.blocked) blocked.push(found.blocked);
        if (found?.asOf !== undefined) dates.push(found.asOf);
      }),
    );
    const [asOf] = dates.sort();
    const task = withCloseOf(withResources(known.value.task, details), description);
    return withBlocked(asOf === undefined || hasTaskEnded(task) ? task : { ...task, asOf }, blocked);
  }

  /** An upgrade that has said its last word is read from what it has published. */
  private forget(id: string): void {
    for (const { runId } of this.upgrades.latest(id)?.children ?? []) this.resources.forget(runId);
    this.upgrades.forget(id);
  }

  private describe(execution: { readonly workflowId: string; readonly runId?: string }) {
    return describeWorkflow(this.client, execution, Date.now() + this.timeouts.call);
  }

  /** What an upgrade has answered last, or has written into its memo since. */
  private async lastKnown(id: string, description: WorkflowDescription): Promise<Known<TaskWithChildren>> {
    const answer = await this.lastAnswer(this.upgrades, id, description);
    if (answer) return answer;
    const stored = readAs(StoredUpgrade, await this.reader.fields(description.memo));
    if (!stored) throw new Error(`Could not read the memo of upgrade ${id}`);
    return { value: stored, ...(description.status === "RUNNING" && { asOf: stored.publishedAt }) };
  }

  private async findBlockedNotifications(id: string, { pendingChildren }: WorkflowDescription) {
    if (!pendingChildren.some(({ type }) => notificationTypes.has(type))) return undefined;
    // Its latest run, which need not be the child: both continue as new.
    const workflowId = notifyWorkflowId(id);
    const description = await this.describe({ workflowId }).catch(() => undefined);
    return description && this.blocks.find(workflowId, description);
  }

  /** `until`, by the monotonic clock, is how long its Workflow has to answer. */
  private async readChild(child: Child, upgradeId: string, until: number): Promise<ChildRead | undefined> {
    const { workflowId, runId } = child;
    const description = await this.describe({ workflowId, runId });
    if (!description) return undefined;
    const current = this.resources.current(runId, description);
    if (!current && (await this.reader.field(description.memo, "upgradeId")) !== upgradeId) return undefined;
    const reset = description.status === "TERMINATED" ? await this.runAfterReset(child, upgradeId) : undefined;
    if (reset !== undefined) return this.readChild({ ...child, runId: reset }, upgradeId, until);
    const blocked = await this.blocks.find(workflowId, description);
    const known = current
      ? { value: current }
      : await this.resourceAnswer(child, upgradeId, description, blocked ? undefined : until);
    if (!known || description.status !== "RUNNING") return known && { ...known, blocked };
    const pending = await Promise.all(description.pendingActivities.map((activity) => this.pendingActivity(activity)));
    return { ...known, value: this.heartbeats.overlaid(known.value, pending), blocked };
  }

  /** A reset terminates a run and begins another; undefined where the latest one is the same, or works for another upgrade. */
  private async runAfterReset({ workflowId, runId }: Child, upgradeId: string): Promise<string | undefined> {
    const latest = await this.describe({ workflowId });
    if (!latest || latest.runId === runId) return undefined;
    return (await this.reader.field(latest.memo, "upgradeId")) === upgradeId ? latest.runId : undefined;
  }

  /** What a resource's Workflow says of itself now, or has told last where it does not answer in time or is not asked. */
  private async resourceAnswer(
    child: Child,
    upgradeId: string,
    description: WorkflowDescription,
    until: number | undefined,
  ): Promise<Known<SubTask> | undefined> {
    const { workflowId, runId } = child;
    const running = description.status === "RUNNING";
    if (running && until !== undefined) {
      const answer = await this.ask(runId, until, async () => {
        const handle = this.client.workflow.getHandle(workflowId, runId);
        const { published, ...subTask } = readAs(AnsweredSubTask, await handle.query(subTaskQuery)) ?? {};
        const told = readAs(SubTask, subTask);
        if (told) this.resources.remember(runId, told, description, published);
        return told;
      });
      if (answer) return { value: answer };
    }
    // One that was terminated may have told more than it has published.
    const isLast = hasLastWord(description.status);
    const known = isLast ? undefined : await this.lastAnswer(this.resources, runId, description);
    if (known) return known;
    const written = readAs(SubTask, await this.reader.field(description.memo, "subTask"));
    // Whoever looks through old upgrades displaces no answers.
    if (written && isLast && this.upgrades.latest(upgradeId) !== undefined)
      this.resources.remember(runId, written, description);
    const asOf = running ? readAs(Timestamp, await this.reader.field(description.memo, "publishedAt")) : undefined;
    return written && { value: written, asOf };
  }

  /** What it has answered last, unless it has published something since. */
  private async lastAnswer<A>(
    answers: QueryCache<A>,
    key: string,
    description: WorkflowDescription,
  ): Promise<Known<A> | undefined> {
    if (answers.latest(key) === undefined) return undefined;
    const published = readAs(t.number, await this.reader.field(description.memo, "published"));
    const known = answers.recall(key, description, published);
    if (!known) return undefined;
    return { value: known.answer, ...(description.status === "RUNNING" && { asOf: toTimestamp(known.answeredAt) }) };
  }

  /** Undefined where it does not answer in time. */
  private async upgradeAnswer(
    id: string,
    description: WorkflowDescription,
    until: number,
  ): Promise<TaskWithChildren | undefined> {
    const current = this.upgrades.current(id, description);
    if (current) return current;
    return this.ask(description.runId, until, async () => {
      const answer = readAs(StoredTask, await this.client.workflow.getHandle(id).query(taskWithChildrenQuery));
      if (answer) this.upgrades.remember(id, answer, description, answer.published);
      return answer;
    });
  }

  /**
   * Queries a run. Undefined where it does not answer: no worker, a busy one, or one that closed in the meantime. What comes
   * later than `until` is remembered by `query` itself.
   */
  private async ask<T>(runId: string, until: number, query: () => Promise<T>): Promise<T | undefined> {
    const asked = this.queries.share(runId, () =>
      this.client.withDeadline(Date.now() + this.timeouts.query, query).catch(() => undefined),
    );
    const timer = new AbortController();
    const late = pause(Math.max(0, until - performance.now()), undefined, { signal: timer.signal }).catch(
      () => undefined,
    );
    const answer = await Promise.race([asked, late]);
    timer.abort();
    return answer as T | undefined;
  }

  private async pendingActivity(pending: RawActivity): Promise<PendingActivity> {
    const error = ErrorBody.decode(await this.failureDetail(pending, "error"));
    // Scheduled: not with a worker, so waiting for one or for its next attempt.
    const waits = pending.state === PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED && isRight(error);
    const nextAttemptAt = waits ? timestampOf(pending.scheduledTime) : undefined;
    return {
      activityId: pending.activityId ?? "",
      type: pending.activityType?.name ?? "",
      heartbeat: await this.reader.value(pending.heartbeatDetails?.payloads?.[0]),
      progressAtFailure: await this.failureDetail(pending, "progress"),
      maximumAttempts: pending.maximumAttempts ?? 1,
      ...(isRight(error) && { lastError: error.right }),
      ...(nextAttemptAt !== undefined && { nextAttemptAt }),
    };
  }

  private async failureDetail(pending: RawActivity, key: "error" | "progress"): Promise<unknown> {
    const payload = pending.lastFailure?.applicationFailureInfo?.details?.payloads?.[0];
    const detail = await this.reader.value(payload);
    return typeof detail === "object" && detail !== null ? (detail as Record<string, unknown>)[key] : undefined;
  }
}

/** What Temporal knows of an upgrade's end or cancellation and its Workflow has not told. */
function withCloseOf(task: Task, { status, closeTime, cancelRequested }: WorkflowDescription): Task {
  const reason = lostBecause(status);
  if (hasTaskEnded(task)) return task;
  if (reason === undefined)
    return cancelRequested && task.isCancellable === true ? { ...task, isCancellable: false } : task;
  return lostTask(task, reason, closeTime ?? new Date().toISOString());
}
