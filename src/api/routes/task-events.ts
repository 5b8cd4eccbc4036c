import { Readable } from "node:stream";
import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { model } from "../../domain/codec";
import { ErrorBody } from "../../domain/errors";
import { Task, TaskStatus } from "../../domain/spec/task";
import { TaskChange } from "../../domain/task/task-change";
import { notFound, type ServiceError, unexpected } from "../../upgrades/service-error";
import type { TaskEvent, TaskListener } from "../../upgrades/task-history";
import type { UpgradeService } from "../../upgrades/upgrade-service";
import type { ApiState } from "../api-context";
import { errorResponse } from "../error-response";
import { taskEventsExample } from "../openapi/examples";
import { parameter, TaskId } from "../parameters";
import type { StreamRepresentation } from "../response";
import { noParameters, route, type Route } from "../route";

/** Following a Task without asking again and again (docs/events.md). */
export function taskEventsRoutes(service: UpgradeService): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/tasks/{id}/events",
      access: "READ",
      role: "VIEWER",
      load: "READ",
      operationId: "watchTask",
      tag: "tasks",
      summary: "Follow one task by server-sent events",
      description: [
        "The task of an upgrade, of one run of its prechecks, or of a readiness check.",
        "The events, each with JSON as its data:",
        "`snapshot` (a Task) comes first, and whenever single changes are not available;",
        "`change` (a TaskChange) holds what is different from the state before;",
        "`unavailable` (an Error) and `available` mark a time in which the task cannot be read;",
        "`end` (a TaskEnd) is the last: the task has ended. Close the connection then, or the client may reconnect.",
        "Comments in between keep the connection alive.",
        "A stream ends without `end` when its credentials expire: reconnect with new ones.",
        "A client that reconnects with the id of its last event as Last-Event-ID gets what it missed; if that",
        "is no longer known, it gets a snapshot.",
      ].join(" "),
      request: {
        ...noParameters,
        path: {
          id: parameter(TaskId, "Id of the task: that of its upgrade, of a run of prechecks, or of a readiness check."),
        },
        headers: {
          "Last-Event-ID": parameter(
            t.string,
            "The `id` of the last event that was received, to get what has changed since then.",
          ),
        },
      },
      unknownPath: ({ id = "" }) => notFound("task", id),
      success: {
        status: 200,
        description: "Events, until the task has ended",
        representation: taskEventStream,
        headers: {
          "Cache-Control": { description: "`no-cache`", of: () => "no-cache" },
          "X-Accel-Buffering": { description: "`no`: proxies must pass each event on at once.", of: () => "no" },
        },
        taskId: ({ taskId }) => taskId,
      },
      successExample: taskEventsExample,
      failures: [400, 404, 429, 500, 503],
      handle: ({ path, headers, caller, credentialMilliseconds: milliseconds }) =>
        service.watchTask(path.id, { caller, lastEventId: headers["Last-Event-ID"], milliseconds }),
    }),
  ];
}

/** Data of the last event: the status that the task ended with. */
export const TaskEnd = model({ status: TaskStatus }, {});

/** After how long a client that lost its stream comes back, and one that does so after the end, in milliseconds. */
const reconnect = { lost: 2000, ended: 60_000 };

/** A Task as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). docs/events.md. */
const taskEventStream: StreamRepresentation<TaskListener> = {
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
