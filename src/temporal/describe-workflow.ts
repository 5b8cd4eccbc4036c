import type { Client, WorkflowExecutionDescription } from "@temporalio/client";
import type { LoadedDataConverter, Payload } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { getOrElseW } from "fp-ts/Either";
import * as t from "io-ts";
import type { UpgradeEnd } from "../../activities/contract";
import { model } from "../domain/codec";
import type { PublishedUpgrade } from "../domain/requests/published-upgrade";
import type { HistoryLength } from "../domain/requests/upgrade-request";
import { SubTask, Task } from "../domain/spec/task";
import { Upgrade } from "../domain/spec/upgrade";
import { hasTaskEnded, type LostBecause, lostTask, lostUpgrade } from "../domain/task/lost-upgrade";
import { Timestamp } from "../domain/timestamp";
import { asCancelling } from "../domain/upgrade/published-phase";
import type { Deadline } from "../upgrades/ports";
import { grpcCode, isMissingNamespace } from "./temporal-error";

/** A child's run as the memo of its upgrade keeps it. */
const ChildRun = model({ resourceId: t.string, workflowId: t.string, runId: t.string }, {});

/** The memo of an upgrade, as read back; see `UpgradeMemo` in workflows/messages.ts. */
export const StoredUpgrade = model(
  { upgrade: Upgrade, task: Task },
  // The server drops a memo field that is an empty list.
  { children: t.array(ChildRun), requestDigest: t.string, publishedAt: Timestamp },
);
export type StoredUpgrade = t.TypeOf<typeof StoredUpgrade>;

/** The memo of a resource's Workflow, as read back; see `ResourceMemo` in workflows/messages.ts. */
export const StoredResource = model({ upgradeId: t.string, subTask: SubTask }, {});
export type StoredResource = t.TypeOf<typeof StoredResource>;

/** How often a Workflow had written its memo when it answered; see `Published` in workflows/messages.ts. */
const published = { published: t.number };

/** What the `taskWithChildren` Query answers. */
export const StoredTask = model({ task: Task }, { children: t.array(ChildRun), ...published });
export type TaskWithChildren = t.TypeOf<typeof StoredTask>;

/** What the `subTask` Query answers. */
export const AnsweredSubTask = t.intersection([SubTask, model({}, published)]);

/** A memo with its payloads as they are stored. */
export type Memo = { fields?: Record<string, Payload> | null } | null | undefined;

/** Reads payloads that the client library leaves encoded in raw answers. */
export class PayloadReader {
  constructor(private readonly converter: LoadedDataConverter) {}

  /** One field of a memo; undefined where it is not there. */
  field(memo: Memo, name: string): Promise<unknown> {
    return this.value(memo?.fields?.[name]);
  }

  /** Every field of a memo; one that cannot be read is left out, and the memo's codec says what is missing. */
  async fields(memo: Memo): Promise<Record<string, unknown>> {
    const entries = await Promise.all(
      Object.entries(memo?.fields ?? {}).map(async ([key, payload]) => [key, await this.value(payload)] as const),
    );
    return Object.fromEntries(entries);
  }

  async value(payload: Payload | null | undefined): Promise<unknown> {
    if (!payload) return undefined;
    let decoded = [payload];
    for (const codec of [...this.converter.payloadCodecs].reverse()) decoded = await codec.decode(decoded);
    const [first] = decoded;
    return first && this.converter.payloadConverter.fromPayload(first);
  }
}

/**
 * What our own Workflows have written, or undefined where it is something else. What is valid as it stands is not copied,
 * which would cost more than all the rest of a read; fields that a codec does not know are dropped from the answer.
 */
export function readAs<A>(codec: t.Type<A, unknown, unknown>, value: unknown): A | undefined {
  return codec.is(value) ? value : getOrElseW(() => undefined)(codec.decode(value));
}

type ServerTime = NonNullable<temporal.api.workflow.v1.IWorkflowExecutionInfo["closeTime"]>;

/** A time that the server tells, as the interface shows it (RFC 3339, UTC, milliseconds); undefined where it tells none. */
export function timestampOf(time: ServerTime | null | undefined): string | undefined {
  if (!time) return undefined;
  return new Date(Number(time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1e6)).toISOString();
}

const { WorkflowExecutionStatus } = temporal.api.enums.v1;
const notFound = 5;

type ExecutionInfo = WorkflowExecutionDescription["raw"]["workflowExecutionInfo"];

/** A pending Activity as the server tells of it. */
export type RawActivity = NonNullable<WorkflowExecutionDescription["raw"]["pendingActivities"]>[number];

/** What Temporal says of a Workflow execution, with its payloads as they are stored. */
export interface WorkflowDescription {
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
export async function describeWorkflow(
  client: Client,
  execution: { readonly workflowId: string; readonly runId?: string },
  deadline: number,
): Promise<WorkflowDescription | undefined> {
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

const closedByItself: ReadonlySet<string> = new Set(["COMPLETED", "FAILED", "CANCELED"]);

/** Whether a Workflow execution has closed by itself, so that what it has published last is its last word. */
export function hasLastWord(status: string): boolean {
  return closedByItself.has(status);
}

/** How a Workflow execution ended that did not complete or was not cancelled; undefined otherwise. */
export function lostBecause(status: string): LostBecause | undefined {
  return status === "TERMINATED" || status === "TIMED_OUT" || status === "FAILED" ? status : undefined;
}

/** An upgrade as Temporal itself knows it, without its Workflow being asked. */
export interface UpgradeDescription extends PublishedUpgrade {
  readonly running: boolean;
  readonly requestDigest: string | undefined;
}

/** Reads upgrades from their memos, where each writes at every change of phase. Needs no worker. */
export class UpgradeDescriptions {
  private readonly payloads: PayloadReader;

  constructor(
    private readonly client: Client,
    /** Milliseconds for one call to Temporal. */
    private readonly callTimeout: number,
  ) {
    this.payloads = new PayloadReader(client.options.loadedDataConverter);
  }

  /** Undefined where no upgrade has the id. */
  async find(id: string, until: Deadline = Infinity): Promise<UpgradeDescription | undefined> {
    const deadline = Math.min(Date.now() + this.callTimeout, until);
    const description = await describeWorkflow(this.client, { workflowId: id }, deadline);
    if (description?.type !== "upgradeWorkflow") return undefined;
    const { memo, status, closeTime, cancelRequested, history, workflowTaskAttempt } = description;
    const stored = readAs(StoredUpgrade, await this.payloads.fields(memo));
    if (!stored) throw new Error(`Could not read the memo of upgrade ${id}`);
    const { upgrade, task, requestDigest } = stored;
    const lost = lostBecause(status);
    const endedAt = closeTime ?? new Date().toISOString();
    const running = status === "RUNNING";
    const known = running && cancelRequested ? asCancelling(upgrade) : upgrade;
    return {
      running,
      cancelRequested,
      upgrade: lost === undefined || upgrade.endTime !== undefined ? known : lostUpgrade(upgrade, endedAt),
      task: lost === undefined || hasTaskEnded(task) ? task : lostTask(task, lost, endedAt),
      requestDigest,
      history,
      mayChange: workflowTaskAttempt > 0,
    };
  }
}

/** How long Temporal may take to answer, in milliseconds. */
const timeout = 5000;

/** How the Workflow of an upgrade stands, by the latest of its runs. */
export async function readUpgradeEnd(client: Client, upgradeId: string): Promise<UpgradeEnd> {
  const description = await describeWorkflow(client, { workflowId: upgradeId }, Date.now() + timeout);
  const reason = description && lostBecause(description.status);
  return { isRunning: description?.status === "RUNNING", ...(reason && { reason }) };
}
