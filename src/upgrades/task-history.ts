import type { Task, TaskStatus } from "../domain/spec/task";
import { hasTaskEnded } from "../domain/task/lost-upgrade";
import { subTasksIn, type TaskChange, taskUpdate } from "../domain/task/task-change";
import type { ServiceError } from "./service-error";

/** A state of a Task, or what leads to it from the state before. `id` names the state for a listener that comes back. */
type TaskStep =
  | { readonly type: "SNAPSHOT"; readonly id: string; readonly task: Task }
  | { readonly type: "CHANGE"; readonly id: string; readonly change: TaskChange };

/** How much of the past is kept of one Task: changes, and SubTasks in all of them together. */
export interface HistoryLimits {
  readonly changes: number;
  readonly subTasks: number;
}

const defaultLimits: HistoryLimits = { changes: 256, subTasks: 5000 };

/**
 * The states that one Task was seen in: the latest one in full and, within limits, the changes that led there. Each
 * listener has a place in it and reads on from there, so that a slow one costs no memory: when what it lacks is no
 * longer kept, it reads the latest state instead.
 */
export class TaskHistory {
  private latest: (TaskStep & { readonly type: "SNAPSHOT" }) | undefined;
  /** The number of the latest state; the first one is 1. */
  private number = 0;
  private changes: (TaskStep & { readonly type: "CHANGE" })[] = [];
  private keptSubTasks = 0;

  /** `epoch` is in the ids of this history and in no others. */
  constructor(
    private readonly epoch: string,
    private readonly limits: HistoryLimits = defaultLimits,
  ) {}

  get isEmpty(): boolean {
    return this.latest === undefined;
  }

  /** The status of the latest state if that is an end of the Task. */
  get end(): TaskStatus | undefined {
    return this.latest && hasTaskEnded(this.latest.task) ? this.latest.task.status : undefined;
  }

  /** Takes note of what the Task is now. */
  record(task: Task): void {
    const update = this.latest ? taskUpdate(this.latest.task, task) : ({ type: "SNAPSHOT" } as const);
    if (update.type === "NONE") return;
    this.number += 1;
    const id = `${this.epoch}.${this.number}`;
    this.latest = { type: "SNAPSHOT", id, task };
    if (update.type === "CHANGE") this.keep({ type: "CHANGE", id, change: update.change });
    else this.forget(this.changes.length);
  }

  /** The place of a listener that has had this event; undefined for one that has had none of this history. */
  placeOf(eventId: string | undefined): number | undefined {
    const [, epoch, number] = /^(.*)\.(\d{1,15})$/.exec(eventId ?? "") ?? [];
    return epoch === this.epoch && Number(number) <= this.number ? Number(number) : undefined;
  }

  /** What comes after a place, and the place after that; undefined where nothing does. */
  after(place: number | undefined): { readonly step: TaskStep; readonly place: number } | undefined {
    if (!this.latest || place === this.number) return undefined;
    const oldest = this.number - this.changes.length;
    const change = place === undefined ? undefined : this.changes[place - oldest];
    return change && place !== undefined
      ? { step: change, place: place + 1 }
      : { step: this.latest, place: this.number };
  }

  private keep(step: TaskStep & { readonly type: "CHANGE" }): void {
    this.changes.push(step);
    this.keptSubTasks += subTasksIn(step.change);
    while (this.changes.length > this.limits.changes || this.keptSubTasks > this.limits.subTasks) this.forget(1);
  }

  private forget(count: number): void {
    for (const { change } of this.changes.splice(0, count)) this.keptSubTasks -= subTasksIn(change);
  }
}

/**
 * What a listener of a Task is told. A SNAPSHOT can come at any time and replaces all that was known.
 *
 * - `UNAVAILABLE`: the Task cannot be read for now; the listener goes on, and `AVAILABLE` says that it can again.
 * - `END`: the Task has ended; nothing comes after it. `id` as in the last step.
 * - `QUIET`: nothing has happened for a time.
 */
export type TaskEvent =
  | TaskStep
  | { readonly type: "UNAVAILABLE"; readonly error: ServiceError }
  | { readonly type: "AVAILABLE" }
  | { readonly type: "END"; readonly status: TaskStatus }
  | { readonly type: "QUIET" };

/** Somebody who follows a Task at a pace of their own. */
export interface TaskListener {
  readonly taskId: string;
  /** The next event, as soon as there is one; undefined after the last. Asked again only when it has answered. */
  next(): Promise<TaskEvent | undefined>;
  /** Ends it, also while it waits. Has to be called by whoever does not read to the end. */
  leave(): void;
}
