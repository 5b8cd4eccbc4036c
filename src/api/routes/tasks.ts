import { ResourceId } from "../../domain/codec";
import { largestPage } from "../../domain/page";
import { reasonsOf } from "../../domain/spec/maintenance-override";
import { PageOfTask, Task, TaskStatus } from "../../domain/spec/task";
import { notFound } from "../../upgrades/service-error";
import type { UpgradeService } from "../../upgrades/upgrade-service";
import { cancelledTaskExample, pageOfTaskExample, retriedTaskExample, taskExample } from "../openapi/examples";
import { pageRequested, paging, parameter, TaskId } from "../parameters";
import { json, type Success } from "../response";
import { commandFailures, noParameters, route, type Route } from "../route";

const oneTask = {
  ...noParameters,
  path: {
    id: parameter(TaskId, "Id of the task: that of its upgrade, of a run of prechecks, or of a readiness check."),
  },
};

const unknownTask = ({ id = "" }: Readonly<Record<string, string>>) => notFound("task", id);

const answersTask = (description: string): Success<Task> => ({
  status: 200,
  description,
  representation: json(Task),
  taskId: (task) => task.id,
  reasons: reasonsOf,
});

/** Listing, reading, retrying and cancelling the Tasks that carry upgrades (Spec 2.5). */
export function tasksRoutes(service: UpgradeService): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/tasks",
      access: "READ",
      role: "VIEWER",
      load: "LIST",
      operationId: "listTasks",
      tag: "tasks",
      summary: "List the tasks of upgrades",
      description: `Without their subTasks. Without pageNumber and pageSize: all matches, up to ${largestPage}.`,
      request: {
        ...noParameters,
        query: {
          taskStatus: parameter(TaskStatus, "Only tasks in this state."),
          resourceId: parameter(
            ResourceId,
            "Only tasks of the cluster, NETVIRT instance or management server with this id.",
          ),
          ...paging,
        },
      },
      success: { status: 200, description: "Ok", representation: json(PageOfTask) },
      successExample: pageOfTaskExample,
      failures: [400, 500],
      handle: ({ query: { pageNumber, pageSize, ...filter } }) =>
        service.listTasks(filter, pageRequested({ pageNumber, pageSize })),
    }),
    route({
      method: "GET",
      path: "/v1/tasks/{id}",
      access: "READ",
      role: "VIEWER",
      load: "READ",
      operationId: "getTask",
      tag: "tasks",
      summary: "Read one task in full",
      description: "The task of an upgrade, of one run of its prechecks, or of a readiness check.",
      request: oneTask,
      unknownPath: unknownTask,
      success: answersTask("Ok"),
      successExample: taskExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.getTask(path.id),
    }),
    route({
      method: "PATCH",
      path: "/v1/tasks/{id}",
      access: "WRITE",
      role: "OPERATOR",
      load: "COMMAND",
      operationId: "retryTask",
      tag: "tasks",
      summary: "Retry a failed task",
      description: "Continues under the same id; finished work is not repeated. A body is ignored.",
      request: oneTask,
      unknownPath: unknownTask,
      success: answersTask("The task, which continues"),
      successExample: retriedTaskExample,
      failures: commandFailures,
      handle: ({ path, caller }) => service.retryTask(path.id, caller),
    }),
    route({
      method: "DELETE",
      path: "/v1/tasks/{id}",
      access: "WRITE",
      role: "OPERATOR",
      load: "COMMAND",
      operationId: "cancelTask",
      tag: "tasks",
      summary: "Cancel a task",
      description: "A host being upgraded finishes safely first, so the task may stay in progress for a while.",
      request: oneTask,
      unknownPath: unknownTask,
      success: answersTask("The task, which is or will be cancelled"),
      successExample: cancelledTaskExample,
      failures: commandFailures,
      handle: ({ path, caller }) => service.cancelTask(path.id, caller),
    }),
  ];
}
