import * as E from "fp-ts/Either";
import type { TaskEither } from "fp-ts/TaskEither";
import type { Identities, Timers, UpgradeExecutions } from "./ports";
import { busy, type ServiceError } from "./service-error";
import type { TaskListener } from "./task-listener";
import { WatchedTask } from "./watched-task";
import { WatchedTaskListener } from "./watched-task-listener";

export interface WatchTaskDependencies {
  readonly executions: Pick<UpgradeExecutions, "readTask">;
  readonly identities: Pick<Identities, "newId">;
  readonly timers: Timers;
  readonly watchLimits: WatchLimits;
}

/** Times in milliseconds. */
export interface WatchLimits {
  /** From one read of a watched Task to the next. */
  readonly poll: number;
  /** After how long without an event a listener is told that there is none. */
  readonly quiet: number;
  /** How many listeners there may be at the same time. */
  readonly listeners: number;
}

/** How long the history of a Task is kept for a listener that comes back. */
const restMilliseconds = 60_000;
/** Of how many Tasks that nobody listens to. */
const mostResting = 32;

/**
 * Lets any number of listeners follow Tasks, with one read of each Task per interval. What a Task has gone through is
 * kept for a while in this process, for listeners that come back; to one from elsewhere it begins with a snapshot.
 */
export class TaskWatcher {
  /** Those that nobody listens to are in the order in which they lost their last listener. */
  private readonly tasks = new Map<string, WatchedTask>();
  private readonly forgetting = new WeakMap<WatchedTask, () => void>();
  private readonly listeners = new Set<TaskListener>();
  private users = 0;
  private isClosed = false;

  constructor(private readonly deps: WatchTaskDependencies) {}

  /** Follows a Task after the event with this id. Left where the Task cannot be read, or there are too many listeners. */
  watch(id: string, lastEventId?: string): TaskEither<ServiceError, TaskListener> {
    return async () => {
      if (this.users >= this.deps.watchLimits.listeners) return E.left(busy(tooMany));
      const task = this.taskOf(id);
      this.use(task, 1);
      const known = await task.refresh();
      if (E.isRight(known)) return E.right(this.listen(id, task, lastEventId));
      this.release(id, task);
      return known;
    };
  }

  /** Ends all listeners, and at once those that come later. */
  close(): void {
    this.isClosed = true;
    for (const listener of [...this.listeners]) listener.leave();
  }

  private taskOf(id: string): WatchedTask {
    const { executions, timers, watchLimits, identities } = this.deps;
    const known = this.tasks.get(id);
    if (known) return known;
    const task = new WatchedTask(executions.readTask(id), timers, watchLimits.poll, identities.newId());
    this.tasks.set(id, task);
    return task;
  }

  private listen(id: string, task: WatchedTask, lastEventId: string | undefined): TaskListener {
    const { timers, watchLimits } = this.deps;
    const listener = new WatchedTaskListener(id, task, lastEventId, timers, watchLimits.quiet, () => {
      this.listeners.delete(listener);
      this.release(id, task);
    });
    this.listeners.add(listener);
    if (this.isClosed) listener.leave();
    return listener;
  }

  private use(task: WatchedTask, more: 1 | -1): void {
    this.users += more;
    task.users += more;
  }

  private release(id: string, task: WatchedTask): void {
    this.use(task, -1);
    if (task.users > 0) return;
    this.forgetting.get(task)?.();
    this.tasks.delete(id);
    if (this.isClosed || task.history.isEmpty || task.outage?._tag === "NotFound") return;
    this.tasks.set(id, task);
    const resting = [...this.tasks].filter(([, { users }]) => users === 0);
    for (const [oldest] of resting.slice(0, -mostResting)) this.tasks.delete(oldest);
    const forget = () => {
      if (task.users === 0 && this.tasks.get(id) === task) this.tasks.delete(id);
    };
    this.forgetting.set(task, this.deps.timers.after(restMilliseconds, forget));
  }
}

const tooMany = {
  code: "TOO_MANY_LISTENERS",
  message: "This process follows tasks for as many listeners as it may.",
  remediation: "Try again in a while, or read the task by GET /v1/tasks/{id} until then.",
};
