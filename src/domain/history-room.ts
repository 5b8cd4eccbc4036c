/** How long the history of a Workflow is. */
export interface HistoryLength {
  readonly events: number;
  readonly bytes: number;
}

/** Half of what Temporal allows a history (51,200 events, 50 MB) before it terminates the Workflow. */
const halfFull: HistoryLength = { events: 25_000, bytes: 25_000_000 };

/** Whether the rest of a history belongs to the work itself, so that requests which make it longer are refused. */
export function isHistoryFull({ events, bytes }: HistoryLength): boolean {
  return events > halfFull.events || bytes > halfFull.bytes;
}
