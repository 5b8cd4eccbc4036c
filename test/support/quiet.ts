import { temporal } from "@temporalio/proto";
import { eventually } from "./eventually";
import type { RunningUpgrade } from "./running-upgrade";

type HistoryEvent = temporal.api.history.v1.IHistoryEvent;
const { EventType } = temporal.api.enums.v1;

/** Waits until nothing is due any more in the Workflow of an upgrade, or in that of its nth resource. */
export async function untilQuiet(upgrade: RunningUpgrade, n?: number): Promise<void> {
  await eventually(() => upgrade.events(n), isQuiet);
}

/** Whether every Activity, Signal and Workflow Task that has begun has ended: only something from outside goes on. */
function isQuiet(events: readonly HistoryEvent[]): boolean {
  const count = (pattern: RegExp) =>
    events.filter(({ eventType }) => pattern.test(EventType[eventType ?? 0] ?? "")).length;
  return (
    count(/_WORKFLOW_TASK_SCHEDULED$/) === count(/_WORKFLOW_TASK_(COMPLETED|FAILED|TIMED_OUT)$/) &&
    count(/_ACTIVITY_TASK_SCHEDULED$/) === count(/_ACTIVITY_TASK_(COMPLETED|FAILED|TIMED_OUT|CANCELED)$/) &&
    count(/_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED$/) ===
      count(/_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED$|_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED$/)
  );
}
