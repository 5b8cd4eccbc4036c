import { isDeepStrictEqual } from "node:util";
import type { SubTask } from "../domain/spec/task";
import { applyPendingActivity, type PendingActivity } from "../domain/task/pending-activity";
import type { WorkflowDescription } from "./describe-workflow";

/** How the Workflow was described before it gave an answer. */
type Description = Pick<WorkflowDescription, "runId" | "version">;

interface Known<A> {
  readonly answer: A;
  readonly size: number;
  readonly published: number;
  readonly runId: string;
  readonly version: string | undefined;
  /** Epoch milliseconds. */
  readonly answeredAt: number;
}

/**
 * What Workflows last answered: it holds until their histories grow, and is the next best when they do not answer (no
 * worker, a busy one, a slow server). Forgets those that nobody has read for longest, beyond `capacity` in all, in the
 * unit of `sizeOf`. A Map keeps the order of use, so lru-cache would save no more than the sum of the sizes.
 */
export class QueryCache<A> {
  private readonly answers = new Map<string, Known<A>>();
  private size = 0;

  constructor(
    private readonly capacity: number,
    private readonly sizeOf: (answer: A) => number,
  ) {}

  /** `description`: of the Workflow before it answered. `published`: how often it had written its memo when it did. */
  remember(key: string, answer: A, { runId, version }: Description, published = 0): void {
    const size = this.sizeOf(answer);
    this.put(key, { answer, size, published, runId, version, answeredAt: Date.now() });
    for (const oldest of this.answers.keys()) {
      if (this.size <= this.capacity) break;
      this.forget(oldest);
    }
  }

  /** The last answer, if the Workflow would give the same now: nothing has happened to it since. */
  current(key: string, { version }: Pick<Description, "version">): A | undefined {
    const known = this.answers.get(key);
    if (!known || known.version === undefined || known.version !== version) return undefined;
    this.put(key, known);
    return known.answer;
  }

  /**
   * The last answer, unless the Workflow has published something since, or was reset: that is newer then. `published`: how
   * often it had written its memo with the one that is there now.
   */
  recall(
    key: string,
    { runId }: Pick<Description, "runId">,
    published = 0,
  ): { readonly answer: A; readonly answeredAt: number } | undefined {
    const known = this.answers.get(key);
    if (known?.runId !== runId || known.published < published) return undefined;
    this.put(key, known);
    return known;
  }

  /** The last answer, however old. */
  latest(key: string): A | undefined {
    return this.answers.get(key)?.answer;
  }

  /** Nobody will ask for it any more. */
  forget(key: string): void {
    this.size -= this.answers.get(key)?.size ?? 0;
    this.answers.delete(key);
  }

  /** As the one that was read last. */
  private put(key: string, known: Known<A>): void {
    this.forget(key);
    this.answers.set(key, known);
    this.size += known.size;
  }
}

interface Overlay {
  readonly pending: readonly PendingActivity[];
  /** Of those and of earlier ones, what was grafted. */
  readonly told: readonly PendingActivity[];
  readonly overlaid: SubTask;
}

/**
 * SubTasks with what their pending Activities say, made once for as long as neither changes. While a Workflow says nothing
 * new, what an Activity has told stays, also when it is pending no more: the Workflow has yet to tell its end.
 */
export class HeartbeatOverlay {
  private readonly last = new WeakMap<SubTask, Overlay>();

  overlaid(subTask: SubTask, pending: readonly PendingActivity[]): SubTask {
    const before = this.last.get(subTask);
    if (before && isDeepStrictEqual(before.pending, pending)) return before.overlaid;
    const changed = pending.filter((activity) => applyPendingActivity(subTask, activity) !== subTask);
    const told = [...besides(changed, before?.told ?? []), ...changed];
    const isSame = before !== undefined && isDeepStrictEqual(before.told, told);
    const overlaid = isSame ? before.overlaid : told.reduce(applyPendingActivity, subTask);
    this.last.set(subTask, { pending, told, overlaid });
    return overlaid;
  }
}

/** What was told before of which there is no news. */
function besides(changed: readonly PendingActivity[], before: readonly PendingActivity[]): PendingActivity[] {
  const ids = new Set(changed.map(({ activityId }) => activityId));
  return before.filter(({ activityId }) => !ids.has(activityId));
}
