import type { Client, WorkflowExecutionDescription } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { isRight } from "fp-ts/Either";
import pLimit from "p-limit";
import { ErrorBody } from "../domain/error-body";
import { hasTaskEnded, lostTask } from "../domain/lost-upgrade";
import { applyPendingActivity, type PendingActivity } from "../domain/pending-activity";
import { SubTask, type Task } from "../domain/task";
import { withResources } from "../domain/task-progress";
import { subTaskQuery, taskWithChildrenQuery } from "../../workflows/messages";
import { InFlight } from "./in-flight";
import { LastAnswers } from "./last-answers";
import { PayloadReader, StoredResource, StoredTask, StoredUpgrade, type TaskWithChildren } from "./memo";
import { lostBecause } from "./workflow-end";

const { PendingActivityState } = temporal.api.enums.v1;

/** How many children of one Task are read at the same time. */
const concurrentChildren = 16;
/** Of how many Workflows the last answer is remembered. */
const rememberedAnswers = 2000;

type RawActivity = NonNullable<WorkflowExecutionDescription["raw"]["pendingActivities"]>[number];

/**
 * Reads Tasks. A running upgrade answers by Query, and so do its running children; what their pending Activities say
 * of hosts in work is grafted in. What has closed is read from its memo, and so is what does not answer in time, unless
 * an earlier answer is remembered: that is never older, and so a Task does not go back.
 */
export class TaskReader {
  private readonly reader: PayloadReader;
  private readonly inFlight = new InFlight<Task | undefined>();
  private readonly upgrades = new LastAnswers<TaskWithChildren>(rememberedAnswers);
  private readonly resources = new LastAnswers<SubTask>(rememberedAnswers);

  constructor(
    private readonly client: Client,
    /** How long a Workflow may take to answer a Query, in milliseconds, before its memo is read instead. */
    private readonly queryTimeout: number,
    private readonly callTimeout: number,
  ) {
    this.reader = new PayloadReader(client.options.loadedDataConverter);
  }

  /** The Task, or undefined where there is no such upgrade. Readers that come while one reads share its answer. */
  read(id: string): Promise<Task | undefined> {
    return this.inFlight.share(id, () => this.compose(id));
  }

  /** From now on nobody gets the answer to a reader that has come before: something has changed. */
  changed(id: string): void {
    this.inFlight.forget(id);
  }

  private async compose(id: string): Promise<Task | undefined> {
    const description = await this.describe(id);
    if (description?.type !== "upgradeWorkflow") return undefined;
    const stored = StoredUpgrade.decode(await this.reader.fields(description.raw.workflowExecutionInfo?.memo));
    if (!isRight(stored)) throw new Error(`The memo of upgrade ${id} cannot be read`);
    const memo = stored.right;
    const running = description.status.name === "RUNNING";
    const answer = running ? await this.queryUpgrade(id) : undefined;
    if (answer) this.upgrades.remember(description.runId, answer, memo);
    const known = answer ?? (running ? this.upgrades.recall(description.runId, memo) : undefined) ?? memo;
    // Where the upgrade does not answer, no worker does: asking its children would only take as long again.
    const askChildren = !running || answer !== undefined;
    const limit = pLimit(concurrentChildren);
    const own = await Promise.all(
      (known.children ?? []).map((child) =>
        limit(async () => [child.resourceId, await this.readChild(child, id, askChildren)] as const),
      ),
    );
    const details = new Map<string, SubTask>();
    for (const [resourceId, subTask] of own) if (subTask) details.set(resourceId, subTask);
    return afterTheEnd(withResources(known.task, details), description);
  }

  private async readChild(
    child: { workflowId: string; runId: string },
    upgradeId: string,
    ask: boolean,
  ): Promise<SubTask | undefined> {
    const description = await this.describe(child.workflowId, child.runId);
    const stored = StoredResource.decode(await this.reader.fields(description?.raw.workflowExecutionInfo?.memo));
    if (!description || !isRight(stored) || stored.right.upgradeId !== upgradeId) return undefined;
    const memo = stored.right.subTask;
    if (description.status.name !== "RUNNING") return memo;
    const { workflowId, runId } = child;
    const handle = this.client.workflow.getHandle(workflowId, runId);
    const answer = ask ? SubTask.decode(await this.query(() => handle.query(subTaskQuery))) : undefined;
    if (answer && isRight(answer)) this.resources.remember(runId, answer.right, memo);
    const known = answer && isRight(answer) ? answer.right : (this.resources.recall(runId, memo) ?? memo);
    const pending = await Promise.all((description.raw.pendingActivities ?? []).map((a) => this.pendingActivity(a)));
    return pending.reduce(applyPendingActivity, known);
  }

  private async queryUpgrade(id: string) {
    const answered = StoredTask.decode(
      await this.query(() => this.client.workflow.getHandle(id).query(taskWithChildrenQuery)),
    );
    return isRight(answered) ? answered.right : undefined;
  }

  /** Undefined where the Workflow does not answer: no worker, a busy one, or one that closed in the meantime. */
  private async query<T>(ask: () => Promise<T>): Promise<T | undefined> {
    try {
      return await this.client.withDeadline(Date.now() + this.queryTimeout, ask);
    } catch {
      return undefined;
    }
  }

  private async describe(workflowId: string, runId?: string): Promise<WorkflowExecutionDescription | undefined> {
    try {
      return await this.client.withDeadline(Date.now() + this.callTimeout, () =>
        this.client.workflow.getHandle(workflowId, runId).describe(),
      );
    } catch (error) {
      if (error instanceof Error && error.name === "WorkflowNotFoundError") return undefined;
      throw error;
    }
  }

  private async pendingActivity(pending: RawActivity): Promise<PendingActivity> {
    const error = ErrorBody.decode(await this.failureDetail(pending, "error"));
    // Scheduled: not with a worker, so waiting for one or for its next attempt.
    const waits = pending.state === PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED && isRight(error);
    const nextAttemptAt = waits ? timeOf(pending.scheduledTime) : undefined;
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

function afterTheEnd(task: Task, { status, closeTime }: WorkflowExecutionDescription): Task {
  const reason = lostBecause(status.name);
  if (reason === undefined || hasTaskEnded(task)) return task;
  return lostTask(task, reason, (closeTime ?? new Date()).toISOString());
}

function timeOf(time: RawActivity["scheduledTime"]): string | undefined {
  if (!time) return undefined;
  return new Date(Number(time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1e6)).toISOString();
}
