import { setTimeout as pause } from "node:timers/promises";
import type { Task } from "../domain/spec/task";
import { hasTaskEnded } from "../domain/task/lost-upgrade";
import { toTimestamp } from "../domain/timestamp";

/** For how long (milliseconds) a Task may stand in for a read that takes longer than it may. */
const shownFor = 10_000;

interface Read {
  readonly task: Task;
  /** When the read began: the Task is not older. Epoch milliseconds. */
  readonly asOf: number;
}

/**
 * Reads of Tasks that end in time while Temporal is busy: a read that takes longer than `timeout` (milliseconds) is
 * answered by the one before it, which says as of when it is; the next read uses what comes later. Nothing stands in for
 * what was never read, what was read before a request of this process or more than ten seconds ago, and for an error.
 */
export class BoundedTaskReads {
  private readonly latest = new Map<string, Read>();
  private readonly requestedAt = new Map<string, number>();

  constructor(
    private readonly readNow: (id: string) => Promise<Task | undefined>,
    private readonly timeout: number,
  ) {}

  async read(id: string): Promise<Task | undefined> {
    const begun = Date.now();
    const reading = this.readNow(id).then((task) => this.remember(id, task, begun));
    if (!this.latest.has(id)) return reading;
    const timer = new AbortController();
    const late = pause(this.timeout, undefined, { signal: timer.signal })
      .then(() => this.standIn(id) ?? reading)
      .catch(() => reading);
    try {
      return await Promise.race([reading, late]);
    } finally {
      timer.abort();
    }
  }

  /** A request was made of it: nothing that was read before stands in for a read any more. */
  requested(id: string): void {
    this.latest.delete(id);
    this.requestedAt.set(id, Date.now());
    setTimeout(() => this.requestedAt.delete(id), shownFor).unref();
  }

  private remember(id: string, task: Task | undefined, asOf: number): Task | undefined {
    const before = this.latest.get(id);
    if (before && before.asOf > asOf) return task;
    this.latest.delete(id);
    if (!task || hasTaskEnded(task) || asOf <= (this.requestedAt.get(id) ?? 0)) return task;
    const read = { task, asOf };
    this.latest.set(id, read);
    setTimeout(() => {
      if (this.latest.get(id) === read) this.latest.delete(id);
    }, shownFor).unref();
    return task;
  }

  private standIn(id: string): Task | undefined {
    const read = this.latest.get(id);
    return read && { ...read.task, asOf: read.task.asOf ?? toTimestamp(read.asOf) };
  }
}
