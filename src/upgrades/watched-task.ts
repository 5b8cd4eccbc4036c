import * as E from "fp-ts/Either";
import type { TaskEither } from "fp-ts/TaskEither";
import type { Task } from "../domain/task";
import type { Timers } from "./ports";
import { unexpected, type ServiceError } from "./service-error";
import { TaskHistory } from "./task-history";

/** One Task that listeners follow: it is read again and again, once for all of them. */
export class WatchedTask {
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
