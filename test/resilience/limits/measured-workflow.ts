import type { Client } from "@temporalio/client";
import { temporal } from "@temporalio/proto";
import { PendingPeaks } from "./pending-peaks";
import type { Limited } from "./temporal-limits";

const { Memo, Payload, Payloads, SearchAttributes } = temporal.api.common.v1;
const { EventType } = temporal.api.enums.v1;
const { HistoryEvent } = temporal.api.history.v1;

type Event = temporal.api.history.v1.IHistoryEvent;
type Fields = Record<string, temporal.api.common.v1.IPayload>;

/** A run of a Workflow. */
export interface Run {
  readonly type: string;
  readonly workflowId: string;
  readonly runId: string;
}

/** What a run has used of each limit at most, from its beginning until now. */
export interface MeasuredWorkflow extends Run {
  readonly used: Readonly<Record<Limited, number>>;
  /** Where its largest payload is: the event and the field in it. */
  readonly largestPayload: string;
}

/** Reads a run's whole history and what the server says of it. */
export async function measureWorkflow(client: Client, run: Run): Promise<MeasuredWorkflow> {
  const measure = new Measure();
  for await (const event of eventsOf(client, run)) measure.add(event);
  const { workflowExecutionInfo } = await client.workflowService.describeWorkflowExecution(request(client, run));
  return {
    ...run,
    largestPayload: measure.payload.at,
    used: {
      ...measure.pending.most,
      events: Number(workflowExecutionInfo?.historyLength ?? NaN),
      historyBytes: Number(workflowExecutionInfo?.historySizeBytes ?? NaN),
      payloadBytes: measure.payload.bytes,
      memoBytes: measure.memo.most,
      searchAttributeBytes: measure.searchAttributes.most,
      messageBytes: measure.largestMessage,
      signalsReceived: measure.signalsReceived,
    },
  };
}

/** Bytes of the answer to a Query. */
export async function queryBytes(client: Client, run: Run, queryType: string): Promise<number> {
  const answer = await client.withDeadline(Date.now() + 60_000, () =>
    client.workflowService.queryWorkflow({ ...request(client, run), query: { queryType } }),
  );
  return sizeOf(Payloads, answer.queryResult ?? {});
}

/** Adds up the events of one history in their order. */
class Measure {
  readonly pending = new PendingPeaks();
  readonly memo = new FieldsSize((fields) => sizeOf(Memo, { fields }));
  readonly searchAttributes = new FieldsSize((indexedFields) => sizeOf(SearchAttributes, { indexedFields }));
  payload = { at: "", bytes: 0 };
  signalsReceived = 0;
  /** Of the events that one Workflow task has made: as much is the message in which its worker sends them. */
  private readonly sent = new Map<string, number>();

  add(event: Event): void {
    this.pending.add(event);
    if (event.eventType === EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED) this.signalsReceived++;
    for (const found of payloadsIn(event, EventType[event.eventType ?? 0] ?? ""))
      if (found.bytes > this.payload.bytes) this.payload = found;
    const started = event.workflowExecutionStartedEventAttributes;
    this.memo.add((started?.memo ?? event.workflowPropertiesModifiedEventAttributes?.upsertedMemo)?.fields);
    const attributes = started ?? event.upsertWorkflowSearchAttributesEventAttributes;
    this.searchAttributes.add(attributes?.searchAttributes?.indexedFields);
    const message = messageOf(event);
    this.sent.set(message, (this.sent.get(message) ?? 0) + sizeOf(HistoryEvent, event));
  }

  get largestMessage(): number {
    return Math.max(...this.sent.values());
  }
}

/** The most bytes of fields that are written one after another, the later in the place of the earlier. */
class FieldsSize {
  most = 0;
  private fields: Fields = {};

  constructor(private readonly size: (fields: Fields) => number) {}

  add(fields: Fields | null | undefined): void {
    if (!fields) return;
    this.fields = { ...this.fields, ...fields };
    this.most = Math.max(this.most, this.size(this.fields));
  }
}

/** Names the message to the server that an event comes from: that of a Workflow task has many, any other one. */
function messageOf(event: Event): string {
  const attributes = Object.entries(event).find(([name]) => name.endsWith("EventAttributes"))?.[1] as unknown;
  const task = (attributes as { workflowTaskCompletedEventId?: unknown } | undefined)?.workflowTaskCompletedEventId;
  return task === undefined ? `event ${String(event.eventId)}` : `task ${String(task)}`;
}

/** The payloads in a value; those that make up one field, such as all arguments of an Activity, count together. */
function* payloadsIn(value: unknown, at: string): Generator<{ readonly at: string; readonly bytes: number }> {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
  if ("metadata" in value && "data" in value) yield { at, bytes: sizeOf(Payload, value as Fields[string]) };
  else if ("payloads" in value) yield { at, bytes: sizeOf(Payloads, value as { payloads: Fields[string][] }) };
  else for (const [name, inner] of Object.entries(value)) yield* payloadsIn(inner, `${at}.${name}`);
}

async function* eventsOf(client: Client, run: Run): AsyncGenerator<Event> {
  let nextPageToken = new Uint8Array();
  do {
    const page = await client.workflowService.getWorkflowExecutionHistory({ ...request(client, run), nextPageToken });
    yield* page.history?.events ?? [];
    nextPageToken = Uint8Array.from(page.nextPageToken);
  } while (nextPageToken.length > 0);
}

function request(client: Client, { workflowId, runId }: Run) {
  return { namespace: client.options.namespace, execution: { workflowId, runId } };
}

/** Bytes of a message on the wire. */
function sizeOf<M>(type: { encode(message: M): { finish(): Uint8Array } }, message: M): number {
  return type.encode(message).finish().length;
}
