import * as E from "fp-ts/Either";
import type { TaskEither } from "fp-ts/TaskEither";
import type { Task } from "../domain/spec/task";
import type { Identities, Timers, UpgradeExecutions } from "./ports";
import { busy, type ServiceError, throttled, unexpected } from "./service-error";
import { type TaskEvent, TaskHistory, type TaskListener } from "./task-history";

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
  /** How many of them one caller may have. */
  readonly listenersPerCaller: number;
}

/** Who follows a Task, and from where. */
export interface Follower {
  readonly caller: string;
  /** The id of the last event that they know. */
  readonly lastEventId?: string | undefined;
  /** For how many milliseconds their credentials are good; absent: without an end. */
  readonly milliseconds?: number | undefined;
}

/** The longest time that a timer of Node knows, in milliseconds: almost 25 days. */
const longestTimer = 2 ** 31 - 1;

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
  private readonly usersByCaller = new Map<string, number>();
  private isClosed = false;

  constructor(private readonly deps: WatchTaskDependencies) {}

  /**
   * Follows a Task after the last event that is known. Left where the Task cannot be read, or there are too many
   * listeners. The listener ends with the credentials of its caller.
   */
  watch(id: string, follower: Follower): TaskEither<ServiceError, TaskListener> {
    return async () => {
      const { listeners, listenersPerCaller } = this.deps.watchLimits;
      if ((this.usersByCaller.get(follower.caller) ?? 0) >= listenersPerCaller)
        return E.left(throttled(tooManyOfCaller(listenersPerCaller)));
      if (this.users >= listeners) return E.left(busy(tooMany));
      const task = this.taskOf(id);
      this.use(task, follower, 1);
      const known = await task.refresh();
      if (E.isRight(known)) return E.right(this.listen(id, task, follower));
      this.release(id, task, follower);
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

  private listen(id: string, task: WatchedTask, follower: Follower): TaskListener {
    const { timers, watchLimits } = this.deps;
    const { lastEventId, milliseconds } = follower;
    const listener = new WatchedTaskListener(id, task, lastEventId, timers, watchLimits.quiet, () => {
      cancelEnd?.();
      this.listeners.delete(listener);
      this.release(id, task, follower);
    });
    const cancelEnd =
      milliseconds === undefined
        ? undefined
        : timers.after(Math.min(milliseconds, longestTimer), () => listener.leave());
    this.listeners.add(listener);
    if (this.isClosed) listener.leave();
    return listener;
  }

  private use(task: WatchedTask, { caller }: Follower, more: 1 | -1): void {
    this.users += more;
    task.users += more;
    const ofCaller = (this.usersByCaller.get(caller) ?? 0) + more;
    if (ofCaller === 0) this.usersByCaller.delete(caller);
    else this.usersByCaller.set(caller, ofCaller);
  }

  private release(id: string, task: WatchedTask, follower: Follower): void {
    this.use(task, follower, -1);
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

const tooManyOfCaller = (limit: number) => ({
  code: "TOO_MANY_LISTENERS_OF_CALLER",
  message: `You have the maximum of ${limit} event streams per caller.`,
  remediation: "Close unneeded streams, or read the task with GET /v1/tasks/{id}.",
});

const tooMany = {
  code: "TOO_MANY_LISTENERS",
  message: "This process has its maximum of event streams.",
  remediation: "Try again later, or read the task with GET /v1/tasks/{id} meanwhile.",
};

/** One Task that listeners follow: it is read again and again, once for all of them. */
class WatchedTask {
  readonly history: TaskHistory;
  /** Why the Task could not be read the last time. */
  outage: ServiceError | undefined;
  /** Listeners, and those who wait to become one. */
  users = 0;
  private readonly wakes = new Set<() => void>();
  private reading: Promise<E.Either<ServiceError, void>> | undefined;
  private cancelRead: (() => void) | undefined;

  constructor(
    private readonly readTask: TaskEither<ServiceError, Task>,
    private readonly timers: Timers,
    private readonly pollMilliseconds: number,
    epoch: string,
  ) {
    this.history = new TaskHistory(epoch);
  }

  /** Whether nothing can come any more: it has ended, or there is no such Task any longer. */
  get isOver(): boolean {
    return this.history.end !== undefined || this.outage?._tag === "NotFound";
  }

  /** Reads the Task, unless it is being followed and so known anyway. Left where it cannot be read. */
  async refresh(): Promise<E.Either<ServiceError, void>> {
    return this.cancelRead ? E.right(undefined) : this.read();
  }

  /** `wake` is called when there may be something new. Gives the function that ends that. */
  listen(wake: () => void): () => void {
    this.wakes.add(wake);
    this.readLater();
    return () => {
      this.wakes.delete(wake);
      if (this.wakes.size > 0) return;
      this.cancelRead?.();
      this.cancelRead = undefined;
    };
  }

  private read(): Promise<E.Either<ServiceError, void>> {
    this.reading ??= this.readOnce().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readOnce(): Promise<E.Either<ServiceError, void>> {
    const outcome = await this.outcome();
    this.cancelRead?.();
    this.cancelRead = undefined;
    this.outage = E.isLeft(outcome) ? outcome.left : undefined;
    if (E.isRight(outcome)) this.history.record(outcome.right);
    this.readLater();
    for (const wake of [...this.wakes]) wake();
    return E.isLeft(outcome) ? outcome : E.right(undefined);
  }

  private async outcome(): Promise<E.Either<ServiceError, Task>> {
    try {
      return await this.readTask();
    } catch (cause) {
      return E.left(unexpected(cause));
    }
  }

  private readLater(): void {
    if (this.wakes.size === 0 || this.isOver || this.cancelRead) return;
    this.cancelRead = this.timers.after(this.pollMilliseconds, () => void this.read());
  }
}

/** How long a listener may take to ask for its first event: the request that it was for may be gone. */
const beginMilliseconds = 60_000;

/** A listener with its own place in the history of a watched Task. It keeps no events, so it may be as slow as it likes. */
class WatchedTaskListener implements TaskListener {
  private place: number | undefined;
  private reportedOutage: ServiceError | undefined;
  private hasLeft = false;
  private wake: () => void = () => undefined;
  private readonly stopListening: () => void;
  private readonly cancelBegin: () => void;

  constructor(
    readonly taskId: string,
    private readonly task: WatchedTask,
    lastEventId: string | undefined,
    private readonly timers: Timers,
    private readonly quietMilliseconds: number,
    private readonly onLeave: () => void,
  ) {
    this.place = task.history.placeOf(lastEventId);
    this.stopListening = task.listen(() => this.wake());
    this.cancelBegin = timers.after(beginMilliseconds, () => this.leave());
  }

  async next(): Promise<TaskEvent | undefined> {
    this.cancelBegin();
    const due = this.due();
    const event = due === "NOTHING" ? await this.later() : due;
    if (event === "OVER" || event.type === "END") this.leave();
    return event === "OVER" ? undefined : event;
  }

  leave(): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.cancelBegin();
    this.stopListening();
    this.onLeave();
    this.wake();
  }

  private due(): TaskEvent | "NOTHING" | "OVER" {
    if (this.hasLeft) return "OVER";
    return this.changeOfOutage() ?? this.nextStep() ?? (this.task.isOver ? this.end() : "NOTHING");
  }

  /** Nobody is told of an outage before there is something to go on from. */
  private changeOfOutage(): TaskEvent | undefined {
    const { outage } = this.task;
    if (this.place === undefined || (outage === undefined) === (this.reportedOutage === undefined)) return undefined;
    // Each failed read has an error of its own; a listener is told of the first of an outage.
    this.reportedOutage = outage;
    return outage ? { type: "UNAVAILABLE", error: outage } : { type: "AVAILABLE" };
  }

  private nextStep(): TaskEvent | undefined {
    const next = this.task.history.after(this.place);
    if (next) this.place = next.place;
    return next?.step;
  }

  private end(): TaskEvent | "OVER" {
    const status = this.task.history.end;
    return status === undefined ? "OVER" : { type: "END", status };
  }

  /** What comes next, or word that nothing has come for a time. */
  private later(): Promise<TaskEvent | "OVER"> {
    return new Promise((resolve) => {
      const settle = (event: TaskEvent | "OVER") => {
        cancel();
        this.wake = () => undefined;
        resolve(event);
      };
      const cancel = this.timers.after(this.quietMilliseconds, () => settle({ type: "QUIET" }));
      this.wake = () => {
        const due = this.due();
        if (due !== "NOTHING") settle(due);
      };
    });
  }
}
