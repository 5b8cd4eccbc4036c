import { isDeepStrictEqual } from "node:util";
import { applyPendingActivity, type PendingActivity } from "../domain/pending-activity";
import type { SubTask } from "../domain/task";

interface Graft {
  readonly pending: readonly PendingActivity[];
  /** Of those and of earlier ones, what was grafted. */
  readonly told: readonly PendingActivity[];
  readonly grafted: SubTask;
}

/**
 * SubTasks with what their pending Activities say, made once for as long as neither changes. While a Workflow says nothing
 * new, what an Activity has told stays, also when it is pending no more: the Workflow has yet to tell its end.
 */
export class Grafts {
  private readonly last = new WeakMap<SubTask, Graft>();

  grafted(subTask: SubTask, pending: readonly PendingActivity[]): SubTask {
    const before = this.last.get(subTask);
    if (before && isDeepStrictEqual(before.pending, pending)) return before.grafted;
    const news = pending.filter((activity) => applyPendingActivity(subTask, activity) !== subTask);
    const told = [...besides(news, before?.told ?? []), ...news];
    const isSame = before !== undefined && isDeepStrictEqual(before.told, told);
    const grafted = isSame ? before.grafted : told.reduce(applyPendingActivity, subTask);
    this.last.set(subTask, { pending, told, grafted });
    return grafted;
  }
}

/** What was told before of which there is no news. */
function besides(news: readonly PendingActivity[], before: readonly PendingActivity[]): PendingActivity[] {
  const ids = new Set(news.map(({ activityId }) => activityId));
  return before.filter(({ activityId }) => !ids.has(activityId));
}
