import type { Timers } from "./ports";
import type { ServiceError } from "./service-error";
import type { TaskEvent, TaskListener } from "./task-listener";
import type { WatchedTask } from "./watched-task";

/** How long a listener may take to ask for its first event: the request that it was for may be gone. */
const beginMilliseconds = 60_000;

/** A listener with its own place in the history of a watched Task. It keeps no events, so it may be as slow as it likes. */
export class WatchedTaskListener implements TaskListener {
  private place: number | undefined;
  private toldOutage: ServiceError | undefined;
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
    if (this.place === undefined || (outage === undefined) === (this.toldOutage === undefined)) return undefined;
    // Each failed read has an error of its own; a listener is told of the first of an outage.
    this.toldOutage = outage;
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
