import { Task } from "../domain/task";
import { Upgrade } from "../domain/upgrade";
import { partThatCounts, UpgradeUpdateSpec } from "../domain/upgrade-update";
import { notFound } from "../upgrades/service-error";
import type { UpgradeService } from "../upgrades/upgrade-service";
import { json, type Success } from "./answer";
import { precheckTaskExample, upgradeExample, upgradeUpdateExample } from "./openapi/examples";
import { PrecheckId, UpgradeId } from "./parameters";
import { noParameters, route, type Route } from "./route";

const oneUpgrade = { ...noParameters, path: { id: UpgradeId } };

const unknownUpgrade = ({ id = "" }: Readonly<Record<string, string>>) => notFound("upgrade", id);

const answersUpgrade: Success<Upgrade> = {
  status: 200,
  description: "The upgrade as it is then",
  representation: json(Upgrade),
  taskId: (upgrade) => upgrade.taskId ?? upgrade.id,
};

/** In the log it is the upgrade's, which the path names: the Task of a run has an id that nothing else is found by. */
const precheckTaskAnswer = (status: number, description: string): Success<Task> => ({
  status,
  description,
  representation: json(Task),
});

/** What every request to an upgrade can be answered with; 424 also where it is recorded and no worker runs. */
const failures = [400, 403, 404, 409, 424, 500];

/** Steering one upgrade: commit, new time, cancellation, pause, resume, resolve, prechecks. */
export function upgradeActionsRoutes(service: UpgradeService): Route[] {
  return [
    route({
      method: "PATCH",
      path: "/v1/upgrades/{id}",
      access: "WRITE",
      role: "OPERATOR",
      load: "COMMAND",
      operationId: "updateUpgrade",
      tag: "upgrades",
      summary: "Commit, reschedule or cancel an upgrade",
      description:
        "Without a body, or without a field, it is a plain commit. A time commits a draft with it or gives a scheduled upgrade a new one. mgmtUpgradePatchSpecs gives switchovers of management servers another time, until they begin; alone it commits nothing. markForCancellation true cancels, and every other field is ignored then. Fields that are not known are refused.",
      request: {
        ...oneUpgrade,
        body: UpgradeUpdateSpec,
        bodyMayBeAbsent: true,
        partThatCounts,
        unknownFields: "REFUSED",
      },
      unknownPath: unknownUpgrade,
      bodyExample: upgradeUpdateExample,
      success: answersUpgrade,
      successExample: upgradeExample,
      failures,
      handle: ({ path, body, caller }) => service.updateUpgrade(path.id, body, caller),
    }),
    steering(
      service,
      "pause",
      "Pause an upgrade",
      "No new host, cluster or product begins; the running host is finished.",
    ),
    steering(service, "resume", "Resume a paused upgrade", "It goes on where it was paused."),
    steering(service, "resolve", "Give up a failed upgrade", "It can no longer be retried, and counts as resolved."),
    route({
      method: "POST",
      path: "/v1/upgrades/{id}/prechecks",
      access: "WRITE",
      role: "OPERATOR",
      load: "COMMAND",
      operationId: "runPrechecks",
      tag: "upgrades",
      summary: "Run the prechecks of a draft again",
      description:
        "Earlier runs stay on the upgrade's task. The run has a task of its own, whose id is the precheckId.",
      request: oneUpgrade,
      unknownPath: unknownUpgrade,
      success: {
        ...precheckTaskAnswer(202, "The run has begun"),
        headers: { Location: { description: "Path of the run's task.", of: (task) => `/v1/tasks/${task.id}` } },
      },
      successExample: precheckTaskExample,
      links: {
        getTask: { id: "$response.body#/id" },
        readPrechecks: { id: "$request.path.id", precheckId: "$response.body#/id" },
      },
      failures,
      handle: ({ path, caller }) => service.runPrechecks(path.id, caller),
    }),
    route({
      method: "GET",
      path: "/v1/upgrades/{id}/prechecks/{precheckId}",
      access: "READ",
      role: "VIEWER",
      load: "READ",
      operationId: "readPrechecks",
      tag: "upgrades",
      summary: "Read one run of the prechecks",
      request: { ...noParameters, path: { id: UpgradeId, precheckId: PrecheckId } },
      unknownPath: ({ precheckId = "" }) => notFound("precheck", precheckId),
      success: precheckTaskAnswer(200, "Ok"),
      successExample: precheckTaskExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.readPrechecks(path.id, path.precheckId),
    }),
  ];
}

function steering(
  service: UpgradeService,
  name: "pause" | "resume" | "resolve",
  summary: string,
  description: string,
): Route {
  return route({
    method: "POST",
    path: `/v1/upgrades/{id}/${name}`,
    access: "WRITE",
    role: "OPERATOR",
    load: "COMMAND",
    operationId: `${name}Upgrade`,
    tag: "upgrades",
    summary,
    description,
    request: oneUpgrade,
    unknownPath: unknownUpgrade,
    success: answersUpgrade,
    successExample: upgradeExample,
    failures,
    handle: ({ path, caller }) => service.steerUpgrade(path.id, name, caller),
  });
}
