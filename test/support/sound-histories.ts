import { resolve } from "node:path";
import type { Client } from "@temporalio/client";
import type { DataConverter } from "@temporalio/common";
import { temporal } from "@temporalio/proto";
import { DefaultLogger, Runtime, Worker, type WorkflowBundleOption } from "@temporalio/worker";

type History = temporal.api.history.v1.IHistory;
type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
const { EventType, WorkflowTaskFailedCause } = temporal.api.enums.v1;

const root = resolve(__dirname, "../..");

/** Events with which a run of a Workflow ends by itself. */
const ends: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED,
  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW,
]);

/** Events of what a Workflow has asked for, and of which it will hear more. */
const requests: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
  EventType.EVENT_TYPE_TIMER_STARTED,
  EventType.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
  EventType.EVENT_TYPE_REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED,
  EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED,
]);

/** How the histories of a namespace were written, where that is not as production does without any keys, and more to look at. */
export interface SoundnessOptions {
  readonly bundle?: WorkflowBundleOption;
  readonly conversion?: DataConverter;
  /** Whether a Workflow Task that has failed is wrong as well; not where the server itself is killed. */
  readonly tasksFail?: boolean;
}

/**
 * Every history of the client's namespace that does not replay with the Workflows of this build, and every one whose
 * Workflow asked for something in the Workflow Task in which it ended: a line for each; none where all are sound.
 */
export async function unsoundHistories(
  client: Client,
  {
    bundle = { codePath: resolve(root, "dist/workflow-bundle.js") },
    conversion = {},
    tasksFail = false,
  }: SoundnessOptions = {},
): Promise<string[]> {
  quietReplays();
  const wrong: string[] = [];
  const options = {
    workflowBundle: bundle,
    dataConverter: { ...conversion, payloadConverterPath: resolve(root, "dist/workflows/payload-converter.js") },
  };
  async function* histories(): AsyncIterable<{ workflowId: string; history: History }> {
    // Memos hold whole Tasks, and the gRPC library takes no answer of more than 4 MB.
    for await (const exported of client.workflow.list({ pageSize: 50 }).intoHistories({ concurrency: 10 })) {
      const { workflowId, history } = exported as { workflowId: string; history: History };
      const late = requestsOfLastTask(history);
      if (late.length > 0) wrong.push(`${workflowId} asked for something when it ended: ${late.join(", ")}`);
      const failed = tasksFail ? failedTasks(history) : [];
      if (failed.length > 0) wrong.push(`${workflowId} had Workflow Tasks that failed: ${failed.join(", ")}`);
      yield { workflowId, history };
    }
  }
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories()))
    if (error) wrong.push(`${workflowId}: ${error.message}`);
  return wrong;
}

/** What the worker of a replay does besides is no news, between the lines of tests. A Runtime that is there already keeps its logger. */
function quietReplays(): void {
  try {
    Runtime.install({ logger: new DefaultLogger("WARN"), telemetryOptions: { logging: { filter: "WARN" } } });
  } catch (error) {
    if (!(error instanceof Error && error.name === "IllegalStateError")) throw error;
  }
}

/** What a run asked for in the Workflow Task in which it ended; nothing of it will ever be heard. */
export function requestsOfLastTask({ events }: History): string[] {
  const end = events?.findLast(({ eventType }) => ends.has(eventType ?? 0));
  if (!end || !events) return [];
  const task = taskOf(end);
  return events
    .filter((event) => requests.has(event.eventType ?? 0) && taskOf(event) === task)
    .map(({ eventType }) => EventType[eventType ?? 0] ?? "");
}

/**
 * Why Workflow Tasks of a run have failed, each. Not told is the end that the server refuses where an event has come
 * meanwhile, and has decided again.
 */
export function failedTasks({ events }: History): string[] {
  return (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failure }) => {
    const cause = WorkflowTaskFailedCause[failure?.cause ?? 0] ?? "";
    if (!failure || cause === "WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND") return [];
    return [`${cause} ${failure.failure?.message ?? ""}`.trim()];
  });
}

/** The id of the event that says which Workflow Task an event is of. */
function taskOf(event: HistoryEvent): string | undefined {
  const attributes = Object.entries(event).find(
    ([name, value]) => name.endsWith("EventAttributes") && value !== null,
  )?.[1] as { workflowTaskCompletedEventId?: unknown } | undefined;
  return attributes?.workflowTaskCompletedEventId === undefined
    ? undefined
    : String(attributes.workflowTaskCompletedEventId);
}
