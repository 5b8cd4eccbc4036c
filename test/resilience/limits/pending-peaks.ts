import { temporal } from "@temporalio/proto";
import type { Limited } from "./temporal-limits";

const { EventType } = temporal.api.enums.v1;

type Pending = Extract<Limited, `pending${string}`>;

/** Events with which something begins to be pending (1), or ends to be (-1). */
const changes = new Map<number, readonly [Pending, 1 | -1]>([
  [EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, ["pendingActivities", 1]],
  [EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, ["pendingActivities", -1]],
  [EventType.EVENT_TYPE_ACTIVITY_TASK_FAILED, ["pendingActivities", -1]],
  [EventType.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, ["pendingActivities", -1]],
  [EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED, ["pendingActivities", -1]],
  [EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED, ["pendingChildren", 1]],
  [EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_FAILED, ["pendingChildren", -1]],
  [EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED, ["pendingChildren", -1]],
  [EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_FAILED, ["pendingChildren", -1]],
  [EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_CANCELED, ["pendingChildren", -1]],
  [EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TIMED_OUT, ["pendingChildren", -1]],
  [EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_TERMINATED, ["pendingChildren", -1]],
  [EventType.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED, ["pendingSignals", 1]],
  [EventType.EVENT_TYPE_SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED, ["pendingSignals", -1]],
  [EventType.EVENT_TYPE_EXTERNAL_WORKFLOW_EXECUTION_SIGNALED, ["pendingSignals", -1]],
]);

/** How much of each kind was pending at the same time at most, by the events of a Workflow in their order. */
export class PendingPeaks {
  private readonly now: Record<Pending, number> = { pendingActivities: 0, pendingChildren: 0, pendingSignals: 0 };
  readonly most: Record<Pending, number> = { ...this.now };

  add({ eventType }: temporal.api.history.v1.IHistoryEvent): void {
    const change = changes.get(eventType ?? 0);
    if (!change) return;
    const [kind, by] = change;
    this.now[kind] += by;
    this.most[kind] = Math.max(this.most[kind], this.now[kind]);
  }
}
