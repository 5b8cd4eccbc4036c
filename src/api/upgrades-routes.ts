import * as t from "io-ts";
import { BundleType } from "../domain/bundle";
import { ResourceId } from "../domain/codec";
import { Task } from "../domain/task";
import { PageOfUpgrade, Upgrade } from "../domain/upgrade";
import { UpgradeSpec } from "../domain/upgrade-spec";
import { largestPage } from "../domain/page";
import { UpgradePreview } from "../domain/upgrade-preview";
import { UpgradeStatus } from "../domain/upgrade-status";
import { notFound } from "../upgrades/service-error";
import type { UpgradeService } from "../upgrades/upgrade-service";
import { json } from "./answer";
import { pageExample, previewExample, taskExample, upgradeExample, upgradeSpecExample } from "./openapi/examples";
import { IdempotencyKey, pageRequested, paging, UpgradeId } from "./parameters";
import { noParameters, route, type Route } from "./route";
import { warningHeader } from "./warning-header";

/** What can be done with an upgrade by the id that its start answers. */
const operationsOnUpgrades = [
  "getTask",
  "getUpgrade",
  "watchTask",
  "updateUpgrade",
  "pauseUpgrade",
  "resumeUpgrade",
  "resolveUpgrade",
  "runPrechecks",
  "retryTask",
  "cancelTask",
];

/** Starting, previewing, listing and reading upgrades (Spec 4.1, 4.2). */
export function upgradesRoutes(service: UpgradeService): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/upgrades",
      access: "WRITE",
      role: "OPERATOR",
      load: "START",
      operationId: "startUpgrade",
      tag: "upgrades",
      summary: "Start, schedule or draft an upgrade",
      description:
        "Accepts the upgrade and answers the Task that describes the work; the work itself goes on in the background. A field that is not known is ignored, and warnings and the header Warning say so; where its name is nearly a known one, or says that it narrows or delays the upgrade, it is refused.",
      request: {
        ...noParameters,
        headers: { "Idempotency-Key": IdempotencyKey },
        body: UpgradeSpec,
        unknownFields: "WARNED",
      },
      bodyExample: upgradeSpecExample,
      success: {
        status: 202,
        description: "Accepted",
        representation: json(Task),
        headers: {
          Location: { description: "Path of the Task.", of: (task) => `/v1/tasks/${task.id}` },
          Warning: warningHeader,
        },
        taskId: (task) => task.id,
      },
      successExample: taskExample,
      links: Object.fromEntries(operationsOnUpgrades.map((operationId) => [operationId, { id: "$response.body#/id" }])),
      failures: [400, 403, 424, 500],
      handle: ({ body, headers, caller, warnings }) =>
        service.startUpgrade({
          spec: body,
          caller,
          ...(warnings.length > 0 && { warnings }),
          ...(headers["Idempotency-Key"] !== undefined && { idempotencyKey: headers["Idempotency-Key"] }),
        }),
    }),
    route({
      method: "POST",
      path: "/v1/upgrades/preview",
      access: "WRITE",
      role: "OPERATOR",
      load: "INVENTORY",
      operationId: "previewUpgrade",
      tag: "upgrades",
      summary: "See what an upgrade would do",
      description: "Takes the same request as the start and gives the same errors, but starts nothing.",
      request: { ...noParameters, body: UpgradeSpec, unknownFields: "WARNED" },
      bodyExample: upgradeSpecExample,
      success: {
        status: 200,
        description: "Ok",
        representation: json(UpgradePreview),
        headers: { Warning: warningHeader },
      },
      successExample: previewExample,
      failures: [400, 403, 424, 500],
      handle: ({ body, warnings }) => service.previewUpgrade(body, warnings),
    }),
    route({
      method: "GET",
      path: "/v1/upgrades",
      access: "READ",
      role: "VIEWER",
      load: "LIST",
      operationId: "listUpgrades",
      tag: "upgrades",
      summary: "List upgrades",
      description: `Without pageNumber and pageSize: all that match, up to ${largestPage}.`,
      request: {
        ...noParameters,
        headers: { "If-None-Match": t.string },
        query: {
          status: UpgradeStatus,
          bundleId: ResourceId,
          bundleType: BundleType,
          resourceId: ResourceId,
          ...paging,
        },
      },
      success: { status: 200, description: "Ok", representation: json(PageOfUpgrade), isConditional: true },
      successExample: pageExample,
      failures: [400, 404, 500],
      handle: ({ query: { pageNumber, pageSize, ...filter } }) =>
        service.listUpgrades(filter, pageRequested({ pageNumber, pageSize })),
    }),
    route({
      method: "GET",
      path: "/v1/upgrades/{id}",
      access: "READ",
      role: "VIEWER",
      load: "READ",
      operationId: "getUpgrade",
      tag: "upgrades",
      summary: "Read one upgrade",
      request: { ...noParameters, path: { id: UpgradeId } },
      unknownPath: ({ id = "" }) => notFound("upgrade", id),
      success: {
        status: 200,
        description: "Ok",
        representation: json(Upgrade),
        taskId: (upgrade) => upgrade.taskId ?? upgrade.id,
      },
      successExample: upgradeExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.getUpgrade(path.id),
    }),
  ];
}
