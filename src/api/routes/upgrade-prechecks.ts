import { AcknowledgementSpec } from "../../domain/spec/finding";
import { Task } from "../../domain/spec/task";
import { notFound } from "../../upgrades/service-error";
import type { UpgradeService } from "../../upgrades/upgrade-service";
import { acknowledgementExample, precheckTaskExample } from "../openapi/examples";
import { parameter, PrecheckId } from "../parameters";
import { json, type Success } from "../response";
import { commandFailures, noParameters, route, type Route } from "../route";
import { oneUpgrade, unknownUpgrade, upgradeId } from "./one-upgrade";

const onePrecheckRun = {
  ...noParameters,
  path: { id: upgradeId, precheckId: parameter(PrecheckId, "Id of the run of prechecks: that of its task.") },
};

/** In the log it is the upgrade's, which the path names: the Task of a run has an id that nothing else is found by. */
const precheckTaskAnswer = (status: number, description: string): Success<Task> => ({
  status,
  description,
  representation: json(Task),
});

/** The prechecks of one upgrade: running them again, reading a run, acknowledging a finding. */
export function upgradePrechecksRoutes(service: UpgradeService): Route[] {
  return [
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
        ...precheckTaskAnswer(202, "The run has started"),
        headers: { Location: { description: "Path of the run's task.", of: (task) => `/v1/tasks/${task.id}` } },
      },
      successExample: precheckTaskExample,
      links: {
        getTask: { id: "$response.body#/id" },
        readPrechecks: { id: "$request.path.id", precheckId: "$response.body#/id" },
      },
      failures: commandFailures,
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
      request: onePrecheckRun,
      unknownPath: ({ precheckId = "" }) => notFound("precheck", precheckId),
      success: precheckTaskAnswer(200, "Ok"),
      successExample: precheckTaskExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.readPrechecks(path.id, path.precheckId),
    }),
    route({
      method: "POST",
      path: "/v1/upgrades/{id}/prechecks/{precheckId}/acknowledge",
      access: "WRITE",
      role: "OPERATOR",
      load: "COMMAND",
      operationId: "acknowledgeFinding",
      tag: "upgrades",
      summary: "Acknowledge a finding of the prechecks",
      description:
        "The finding no longer blocks this upgrade, even in later runs of its prechecks. Each finding is acknowledged separately: one on a host needs its hostId. A finding that is not `isAcknowledgeable` must be fixed (409).",
      request: { ...onePrecheckRun, body: AcknowledgementSpec, unknownFields: "REFUSED" },
      unknownPath: ({ precheckId = "" }) => notFound("precheck", precheckId),
      bodyExample: acknowledgementExample,
      success: precheckTaskAnswer(200, "The run of prechecks as it is then"),
      successExample: precheckTaskExample,
      failures: commandFailures,
      handle: ({ path, body, caller }) => service.acknowledgeFinding(path.id, path.precheckId, body, caller),
    }),
  ];
}
