import { Readable } from "node:stream";
import * as E from "fp-ts/Either";
import type * as t from "io-ts";
import { model } from "../domain/codec";
import { ErrorBody } from "../domain/error-body";
import { Task, TaskStatus } from "../domain/task";
import { TaskChange } from "../domain/task-change";
import { unexpected, type ServiceError } from "../upgrades/service-error";
import type { TaskEvent, TaskListener } from "../upgrades/task-listener";
import type { ApiState } from "./api-context";
import type { StreamRepresentation } from "./answer";
import { errorResponse } from "./error-response";

/** Data of the last event: the status that the task ended with. */
export const TaskEnd = model({ status: TaskStatus }, {});

/** After how long a client that lost its stream comes back, and one that does so after the end, in milliseconds. */
const reconnect = { lost: 2000, ended: 60_000 };

/** A Task as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). docs/events.md. */
export const taskEventStream: StreamRepresentation<TaskListener> = {
  contentType: "text/event-stream",
  toStream: (listener, state) => new TaskEventStream(listener, state),
};

/** Asks for the next event only when the connection has taken what came before. */
class TaskEventStream extends Readable {
  constructor(
    private readonly listener: TaskListener,
    private readonly state: ApiState,
  ) {
    super();
    // Also sends the headers where there is nothing else to tell yet.
    this.push(`retry: ${reconnect.lost}\n\n`);
  }

  override _read(): void {
    this.pushNext().catch((cause: unknown) => this.fail(unexpected(cause)));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.listener.leave();
    done(error);
  }

  private async pushNext(): Promise<void> {
    const event = await this.listener.next();
    if (this.destroyed) return;
    if (event === undefined) this.push(null);
    else if (event.type === "UNAVAILABLE") this.push(this.unavailable(event.error));
    else {
      const bytes = bytesOf(event);
      if (E.isRight(bytes)) this.push(bytes.right);
      else this.fail(unexpected(bytes.left));
    }
  }

  /** The log line of the request gets the error, so that its referenceToken finds the cause. */
  private unavailable(error: ServiceError): Buffer {
    this.state.failure = errorResponse(error, this.state);
    return message("unavailable", JSON.stringify(ErrorBody.encode(this.state.failure.body)));
  }

  private fail(error: ServiceError): void {
    this.push(this.unavailable(error));
    this.push(null);
  }
}

/** Snapshots are large, and all listeners are told the same. */
const made = new WeakMap<TaskEvent, Buffer>();

function bytesOf(event: Exclude<TaskEvent, { type: "UNAVAILABLE" }>): E.Either<Error, Buffer> {
  const before = made.get(event);
  if (before) return E.right(before);
  const bytes = encoded(event);
  if (E.isRight(bytes)) made.set(event, bytes.right);
  return bytes;
}

function encoded(event: Exclude<TaskEvent, { type: "UNAVAILABLE" }>): E.Either<Error, Buffer> {
  switch (event.type) {
    case "SNAPSHOT":
      return withData("snapshot", Task, event.task, `id: ${event.id}\n`);
    case "CHANGE":
      return withData("change", TaskChange, event.change, `id: ${event.id}\n`);
    case "AVAILABLE":
      return E.right(message("available", "{}"));
    case "END":
      return withData("end", TaskEnd, { status: event.status }, `retry: ${reconnect.ended}\n`);
    case "QUIET":
      return E.right(Buffer.from(": nothing new\n\n"));
  }
}

/** What its codec does not recognise must not leave. */
function withData<A>(
  name: string,
  codec: t.Type<A, unknown, unknown>,
  data: A,
  fields: string,
): E.Either<Error, Buffer> {
  return codec.is(data)
    ? E.right(message(name, JSON.stringify(codec.encode(data)), fields))
    : E.left(new Error(`An event is not a valid ${codec.name}`));
}

/** JSON has no line breaks, so one line of data holds it. */
function message(name: string, data: string, fields = ""): Buffer {
  return Buffer.from(`event: ${name}\n${fields}data: ${data}\n\n`);
}
