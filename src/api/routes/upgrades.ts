import * as t from "io-ts";
import { PageOfActivity } from "../../domain/activity/upgrade-activity";
import { Identifier, ResourceId } from "../../domain/codec";
import { largestPage } from "../../domain/page";
import { UpgradePreview } from "../../domain/plan/preview";
import { BundleType } from "../../domain/spec/bundle";
import { ChangeId, LabelText } from "../../domain/spec/change-record";
import { reasonsOf } from "../../domain/spec/maintenance-override";
import { Task } from "../../domain/spec/task";
import { PageOfUpgrade, PublishedPhase, UpgradeStatus } from "../../domain/spec/upgrade";
import { UpgradeSpec } from "../../domain/spec/upgrade-spec";
import { Timestamp } from "../../domain/timestamp";
import { UpgradeCounts, UpgradeSort } from "../../domain/upgrade/attention";
import type { UpgradeService } from "../../upgrades/upgrade-service";
import {
  activityExample,
  countsExample,
  pageExample,
  previewExample,
  taskExample,
  upgradeExample,
  upgradeSpecExample,
} from "../openapi/examples";
import { idempotencyHeader, pageRequested, paging, parameter, SearchText, SeveralOf } from "../parameters";
import { json, warningHeader } from "../response";
import { noParameters, route, type Route } from "../route";
import { answersUpgrade, ifAllowed, oneUpgrade, unknownUpgrade } from "./one-upgrade";

/** What can be done with an upgrade by the id that its start answers. */
const operationsOnUpgrades = [
  "getTask",
  "getUpgrade",
  "readUpgradeRequest",
  "readUpgradePlan",
  "readActivity",
  "watchTask",
  "updateUpgrade",
  "pauseUpgrade",
  "resumeUpgrade",
  "resolveUpgrade",
  "approveUpgrade",
  "rejectUpgrade",
  "skipPart",
  "retryParts",
  "runPrechecks",
  "retryTask",
  "cancelTask",
];

/** What upgrades are chosen by, also where they are only counted. */
const filters = {
  search: parameter(
    SearchText,
    "Only upgrades with all of these words: names of clusters, servers and creators, ids of change records, words in them or their first 3 to 12 characters. Or the beginning of an id.",
  ),
  bundleId: parameter(ResourceId, "Only upgrades to the bundle with this id. 404 if there is no such bundle."),
  bundleType: parameter(BundleType, "Only upgrades to bundles of this type."),
  changeId: parameter(ChangeId, "Only upgrades with this id of a change record."),
  label: parameter(
    SeveralOf(LabelText),
    "Only upgrades with all of these labels, each as `name=value`. Repeated, or separated by commas.",
  ),
  resourceId: parameter(
    ResourceId,
    "Only upgrades of the cluster, NETVIRT instance or management server with this id.",
  ),
  createdBy: parameter(Identifier, "Only upgrades that this caller has created. Upper and lower case are the same."),
  createdSince: parameter(Timestamp, "Only upgrades that were created at this time or later."),
};

const ifNoneMatch = {
  "If-None-Match": parameter(
    t.string,
    "The `ETag` of an earlier answer: the answer is 304 without content until something has changed.",
  ),
};

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
        "Accepts the upgrade and answers the Task that describes the work; the work itself continues in the background. Unknown fields are ignored and named in warnings and the header Warning. A field is refused if its name resembles a known one, or suggests that it narrows or delays the upgrade.",
      request: {
        ...noParameters,
        headers: idempotencyHeader,
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
        reasons: reasonsOf,
      },
      successExample: taskExample,
      links: Object.fromEntries(operationsOnUpgrades.map((operationId) => [operationId, { id: "$response.body#/id" }])),
      failures: [400, 403, 424, 500],
      handle: ({ body, headers, caller, role, warnings }) =>
        ifAllowed(body, role, () =>
          service.startUpgrade({
            spec: body,
            caller,
            ...(warnings.length > 0 && { warnings }),
            ...(headers["Idempotency-Key"] !== undefined && { idempotencyKey: headers["Idempotency-Key"] }),
          }),
        ),
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
      handle: ({ body, role, warnings }) => ifAllowed(body, role, () => service.previewUpgrade(body, warnings)),
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
      description: `Sorted by attention: what needs a decision, what is running, what is scheduled by its time, drafts, what has ended; each newest first. Other sorts apply to the first ${largestPage}: created and ended the newest first, begins the next first, name. Without pageNumber and pageSize: all matches, up to ${largestPage}.`,
      request: {
        ...noParameters,
        headers: ifNoneMatch,
        query: {
          status: parameter(
            SeveralOf(UpgradeStatus),
            "Only upgrades with one of these statuses. Repeated, or separated by commas.",
          ),
          phase: parameter(
            SeveralOf(PublishedPhase),
            "Only upgrades in one of these phases. Repeated, or separated by commas.",
          ),
          sort: parameter(UpgradeSort, "The order; default: by attention."),
          ...filters,
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
      path: "/v1/upgrades/counts",
      access: "READ",
      role: "VIEWER",
      load: "LIST",
      operationId: "countUpgrades",
      tag: "upgrades",
      summary: "Count upgrades by phase",
      description: "Every phase is listed. The numbers may be some seconds old.",
      request: {
        ...noParameters,
        query: filters,
      },
      success: { status: 200, description: "Ok", representation: json(UpgradeCounts) },
      successExample: countsExample,
      failures: [400, 500],
      handle: ({ query }) => service.countUpgrades(query),
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
      request: oneUpgrade,
      unknownPath: unknownUpgrade,
      success: answersUpgrade("Ok"),
      successExample: upgradeExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.getUpgrade(path.id),
    }),
    route({
      method: "GET",
      path: "/v1/upgrades/{id}/request",
      access: "READ",
      role: "VIEWER",
      load: "READ",
      operationId: "readUpgradeRequest",
      tag: "upgrades",
      summary: "Read what an upgrade was asked for",
      description:
        "The request of the start, with the current times of the upgrade. With new times it starts another upgrade of the same kind.",
      request: oneUpgrade,
      unknownPath: unknownUpgrade,
      success: { status: 200, description: "Ok", representation: json(UpgradeSpec) },
      successExample: upgradeSpecExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.readRequest(path.id),
    }),
    route({
      method: "GET",
      path: "/v1/upgrades/{id}/plan",
      access: "READ",
      role: "VIEWER",
      load: "INVENTORY",
      operationId: "readUpgradePlan",
      tag: "upgrades",
      summary: "Read the plan of an upgrade",
      description:
        "What a preview shows now, with the current times and hosts. After the upgrade has begun, the waves have only the remaining hosts.",
      request: oneUpgrade,
      unknownPath: unknownUpgrade,
      success: { status: 200, description: "Ok", representation: json(UpgradePreview) },
      successExample: previewExample,
      failures: [400, 404, 500],
      handle: ({ path }) => service.readPlan(path.id),
    }),
    route({
      method: "GET",
      path: "/v1/upgrades/{id}/activity",
      access: "READ",
      role: "VIEWER",
      load: "READ",
      operationId: "readActivity",
      tag: "upgrades",
      summary: "Read the activity log of an upgrade",
      description:
        "Oldest entries first. At most 500 are kept: the first 100 and the latest. A worker must answer, also for an upgrade that has ended. Requests after the end of an upgrade are only in the audit trail.",
      request: { ...oneUpgrade, headers: ifNoneMatch, query: paging },
      unknownPath: unknownUpgrade,
      success: { status: 200, description: "Ok", representation: json(PageOfActivity), isConditional: true },
      successExample: activityExample,
      failures: [400, 404, 500],
      handle: ({ path, query }) => service.readActivity(path.id, pageRequested(query)),
    }),
  ];
}
