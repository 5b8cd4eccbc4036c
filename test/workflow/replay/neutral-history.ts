import type { HistoryEventJson, HistoryJson } from "./history-json";

/**
 * The history without what tells of the machine that recorded it and says nothing to a replay: identities (process id
 * and host name, also in the names of sticky Task Queues) and stack traces (paths).
 */
export function neutralHistory({ events }: HistoryJson): HistoryJson {
  return { events: events.map((event) => neutral(event) as HistoryEventJson) };
}

function neutral(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(neutral);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => name !== "stackTrace");
  return Object.fromEntries(
    fields.map(([name, field]) => {
      if (name === "identity") return [name, "recorder"];
      if (name === "taskQueue" && isSticky(field)) return [name, { ...field, name: "recorder" }];
      return [name, neutral(field)];
    }),
  );
}

function isSticky(taskQueue: unknown): taskQueue is { kind: string } {
  return typeof taskQueue === "object" && taskQueue !== null && "kind" in taskQueue && taskQueue.kind === stickyKind;
}
const stickyKind = "TASK_QUEUE_KIND_STICKY";
