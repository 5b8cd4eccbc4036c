import { EventSource } from "eventsource";
import type { Task } from "../../src/domain/spec/task";
import { applyTaskChange, type TaskChange } from "../../src/domain/task/task-change";

/**
 * A Task as a browser's client knows it that follows its events and does nothing else. It comes back by itself where
 * its connection is lost; with `earlier` it goes on where that one was closed.
 */
export class FollowedTask {
  /** The names of the events, in order. */
  readonly events: string[] = [];
  /** The ids that it has come back with. */
  readonly resumedFrom: string[] = [];
  task: Task | undefined;
  private lastEventId: string | undefined;
  private readonly source: EventSource;

  constructor(url: string, earlier?: FollowedTask) {
    this.task = earlier?.task;
    this.source = new EventSource(url, {
      fetch: (input, init) => {
        const headers = new Headers(init.headers);
        if (earlier?.lastEventId !== undefined && !headers.has("last-event-id"))
          headers.set("last-event-id", earlier.lastEventId);
        const id = headers.get("last-event-id");
        if (id !== null) this.resumedFrom.push(id);
        return fetch(input, { ...init, headers });
      },
    });
    for (const name of ["snapshot", "change", "unavailable", "available", "end"])
      this.source.addEventListener(name, (event) => this.take(name, event));
  }

  get hasEnded(): boolean {
    return this.events.at(-1) === "end";
  }

  close(): void {
    this.source.close();
  }

  private take(name: string, { data, lastEventId }: MessageEvent): void {
    const value: unknown = JSON.parse(data as string);
    this.events.push(name);
    this.lastEventId = lastEventId;
    if (name === "snapshot") this.task = value as Task;
    if (name === "change" && this.task) this.task = applyTaskChange(this.task, value as TaskChange);
    if (name === "end") this.close();
  }
}
