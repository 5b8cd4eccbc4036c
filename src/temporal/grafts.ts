import { isDeepStrictEqual } from "node:util";
import { applyPendingActivity, type PendingActivity } from "../domain/pending-activity";
import type { SubTask } from "../domain/task";

interface Graft {
  readonly pending: readonly PendingActivity[];
  readonly grafted: SubTask;
}

/** SubTasks with what their pending Activities say, made once for as long as neither changes. */
export class Grafts {
  private readonly last = new WeakMap<SubTask, Graft>();

  grafted(subTask: SubTask, pending: readonly PendingActivity[]): SubTask {
    const before = this.last.get(subTask);
    if (before && isDeepStrictEqual(before.pending, pending)) return before.grafted;
    const grafted = pending.reduce(applyPendingActivity, subTask);
    this.last.set(subTask, { pending, grafted });
    return grafted;
  }
}
