import { PageOfReadinessSchedule, ReadinessSpec } from "../../domain/readiness/readiness-spec";
import { PageOfTask, Task } from "../../domain/spec/task";
import { notFound } from "../../upgrades/service-error";
import type { UpgradeService } from "../../upgrades/upgrade-service";
import {
  pageOfReadinessExample,
  pageOfScheduleExample,
  readinessExample,
  readinessSpecExample,
} from "../openapi/examples";
import { idempotencyHeader, pageRequested, paging, parameter, ScheduleId } from "../parameters";
import { json, nothing } from "../response";
import { noParameters, route, type Route } from "../route";

/** Readiness checks: prechecks without an upgrade, once or by a schedule. */
export function readinessRoutes(service: UpgradeService): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/prechecks",
      access: "WRITE",
      role: "OPERATOR",
      load: "START",
      operationId: "startReadiness",
      tag: "readiness",
      summary: "Check whether clusters are ready for an upgrade",
      description:
        "Runs the prechecks of an upgrade without starting it, takes no lock and changes nothing. The task has the findings; it is `Failed` if one is an ERROR, and `COMPLETED_WITH_WARNING` if one is a WARNING. A schedule repeats the check. The first run begins at once; a run that is due while the previous one continues is left out.",
      request: {
        ...noParameters,
        headers: idempotencyHeader,
        body: ReadinessSpec,
        unknownFields: "REFUSED",
      },
      bodyExample: readinessSpecExample,
      success: {
        status: 202,
        description: "The check has started",
        representation: json(Task),
        headers: { Location: { description: "Path of the task.", of: (task) => `/v1/tasks/${task.id}` } },
        taskId: (task) => task.id,
      },
      successExample: readinessExample,
      links: {
        getTask: { id: "$response.body#/id" },
        watchTask: { id: "$response.body#/id" },
        cancelTask: { id: "$response.body#/id" },
      },
      failures: [400, 403, 424, 500],
      handle: ({ body, headers: { "Idempotency-Key": idempotencyKey }, caller }) =>
        service.startReadiness({ spec: body, caller, ...(idempotencyKey !== undefined && { idempotencyKey }) }),
    }),
    route({
      method: "GET",
      path: "/v1/prechecks",
      access: "READ",
      role: "VIEWER",
      load: "LIST",
      operationId: "listReadiness",
      tag: "readiness",
      summary: "List the readiness checks",
      description: "The latest first, without their subTasks. Changes appear within a second or two.",
      request: { ...noParameters, query: paging },
      success: { status: 200, description: "Ok", representation: json(PageOfTask) },
      successExample: pageOfReadinessExample,
      failures: [400, 500],
      handle: ({ query }) => service.listReadiness(pageRequested(query)),
    }),
    route({
      method: "GET",
      path: "/v1/prechecks/schedules",
      access: "READ",
      role: "VIEWER",
      load: "LIST",
      operationId: "listReadinessSchedules",
      tag: "readiness",
      summary: "List the schedules of readiness checks",
      description: "The oldest first. Changes appear within a second or two.",
      request: { ...noParameters, query: paging },
      success: { status: 200, description: "Ok", representation: json(PageOfReadinessSchedule) },
      successExample: pageOfScheduleExample,
      failures: [400, 500],
      handle: ({ query }) => service.listReadinessSchedules(pageRequested(query)),
    }),
    route({
      method: "DELETE",
      path: "/v1/prechecks/schedules/{id}",
      access: "WRITE",
      role: "OPERATOR",
      load: "COMMAND",
      operationId: "deleteReadinessSchedule",
      tag: "readiness",
      summary: "Delete a schedule of readiness checks",
      description: "A check that has begun continues, and the tasks of its checks stay.",
      request: { ...noParameters, path: { id: parameter(ScheduleId, "Id of the schedule.") } },
      unknownPath: ({ id = "" }) => notFound("schedule", id),
      success: { status: 204, description: "The schedule is deleted", representation: nothing },
      failures: [400, 403, 404, 424, 500],
      handle: ({ path }) => service.deleteReadinessSchedule(path.id),
    }),
  ];
}
