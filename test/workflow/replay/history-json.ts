/** A history in the JSON that Temporal's CLI, its Web UI and the SDKs read and write. */
export interface HistoryJson {
  readonly events: readonly HistoryEventJson[];
}

/** One event; its attributes are in the one field whose name ends in `EventAttributes`. */
export interface HistoryEventJson {
  readonly eventId: string;
  /** Such as `EVENT_TYPE_TIMER_FIRED`. */
  readonly eventType: string;
  readonly [field: string]: unknown;
}

/** How a Workflow has closed (`COMPLETED`, `FAILED`, `CANCELED`, …); `OPEN` where it has not. */
export function endOf({ events }: HistoryJson): string {
  const last = events.at(-1)?.eventType ?? "";
  return (
    /^EVENT_TYPE_WORKFLOW_EXECUTION_(COMPLETED|FAILED|CANCELED|TERMINATED|TIMED_OUT|CONTINUED_AS_NEW)$/.exec(
      last,
    )?.[1] ?? "OPEN"
  );
}

/** A run of a Workflow, as Temporal names it. */
export interface WorkflowRun {
  readonly workflowId: string;
  readonly runId: string;
}

/** The children that a Workflow has started, in the order of their starts. */
export function childRuns({ events }: HistoryJson): WorkflowRun[] {
  return events
    .filter(({ eventType }) => eventType === "EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED")
    .map((event) => (attributesOf(event) as ChildStarted).workflowExecution);
}

interface ChildStarted {
  readonly workflowExecution: WorkflowRun;
}

/** The attributes of an event, whatever its type. */
export function attributesOf(event: HistoryEventJson | undefined): object {
  const [, attributes] = Object.entries(event ?? {}).find(([field]) => field.endsWith("EventAttributes")) ?? [];
  return typeof attributes === "object" && attributes !== null ? attributes : {};
}

/** The type of the Activity that an event schedules; undefined for other events. */
export function activityTypeOf(event: HistoryEventJson): string | undefined {
  return (attributesOf(event) as { readonly activityType?: { readonly name: string } }).activityType?.name;
}

/** What a marker says, as JSON values, by the name of its detail; nothing of an event that is no such marker. */
export function markerDetails(event: HistoryEventJson, markerName: string, detail: string): readonly unknown[] {
  const marker = attributesOf(event) as Partial<MarkerRecorded>;
  if (marker.markerName !== markerName) return [];
  return (marker.details?.[detail]?.payloads ?? []).map(({ data }): unknown =>
    JSON.parse(Buffer.from(data, "base64").toString()),
  );
}

interface MarkerRecorded {
  readonly markerName: string;
  readonly details: Readonly<Record<string, { readonly payloads: readonly { readonly data: string }[] }>>;
}
