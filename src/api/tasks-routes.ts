import { Task } from "../domain/task";
import { notFound } from "../upgrades/service-error";
import type { UpgradeService } from "../upgrades/upgrade-service";
import { json } from "./answer";
import { taskExample } from "./openapi/examples";
import { UpgradeId } from "./parameters";
import { noParameters, route, type Route } from "./route";

/** Reading the Task that carries an upgrade (Spec 2.5). */
export function tasksRoutes(service: UpgradeService): Route[] {
  return [
    route({
      method: "GET",
      path: "/v1/tasks/{id}",
      access: "READ",
      role: "VIEWER",
      operationId: "getTask",
      tag: "tasks",
      summary: "Read one task in full",
      request: { ...noParameters, path: { id: UpgradeId } },
      unknownPath: ({ id = "" }) => notFound("task", id),
      success: { status: 200, description: "Ok", representation: json(Task), taskId: (task) => task.id },
      successExample: taskExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.getTask(path.id),
    }),
  ];
}
