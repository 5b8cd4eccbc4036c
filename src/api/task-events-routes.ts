import * as t from "io-ts";
import { notFound } from "../upgrades/service-error";
import type { UpgradeService } from "../upgrades/upgrade-service";
import { taskEventStream } from "./event-stream";
import { taskEventsExample } from "./openapi/examples";
import { TaskId } from "./parameters";
import { noParameters, route, type Route } from "./route";

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
        "The task of an upgrade, or of one run of its prechecks.",
        "The events, each with JSON as its data:",
        "`snapshot` (a Task) comes first, and whenever changes cannot be told one by one;",
        "`change` (a TaskChange) holds what is different from the state before;",
        "`unavailable` (an Error) and `available` tell when the task cannot be read for a while;",
        "`end` (a TaskEnd) is the last: the task has ended. Close the connection then, or the client may come back.",
        "Comments in between keep the connection alive.",
        "A stream ends with the credentials that it was opened with, without `end`: come back with new ones.",
        "A client that comes back with the id of its last event as Last-Event-ID gets what it has missed; where that",
        "is not known any more, it gets a snapshot.",
      ].join(" "),
      request: { ...noParameters, path: { id: TaskId }, headers: { "Last-Event-ID": t.string } },
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
