import * as TE from "fp-ts/TaskEither";
import * as t from "io-ts";
import { type Role, roleCovers } from "../../authentication/authentication";
import { PageOfActivity } from "../../domain/activity/upgrade-activity";
import { Identifier, ResourceId } from "../../domain/codec";
import { largestPage } from "../../domain/page";
import { UpgradePreview } from "../../domain/plan/preview";
import { BundleType } from "../../domain/spec/bundle";
import { ChangeId, LabelText } from "../../domain/spec/change-record";
import { AcknowledgementSpec } from "../../domain/spec/finding";
import { reasonsOf } from "../../domain/spec/maintenance-override";
import { Task } from "../../domain/spec/task";
import { PageOfUpgrade, PublishedPhase, Upgrade, UpgradeStatus } from "../../domain/spec/upgrade";
import {
  ApprovalSpec,
  partThatCounts,
  RejectionSpec,
  RetrySpec,
  SkipSpec,
  UpgradeSpec,
  UpgradeUpdateSpec,
} from "../../domain/spec/upgrade-spec";
import { Timestamp } from "../../domain/timestamp";
import { UpgradeCounts, UpgradeSort } from "../../domain/upgrade/attention";
import { notFound } from "../../upgrades/service-error";
import type { UpgradeService } from "../../upgrades/upgrade-service";
import {
  acknowledgementExample,
  activityExample,
  countsExample,
  pageExample,
  precheckTaskExample,
  previewExample,
  retryExample,
  skipExample,
  taskExample,
  upgradeExample,
  upgradeSpecExample,
  upgradeUpdateExample,
} from "../openapi/examples";
import {
  IdempotencyKey,
  pageRequested,
  paging,
  parameter,
  PrecheckId,
  SearchText,
  SeveralOf,
  UpgradeId,
} from "../parameters";
import { json, type Success, warningHeader } from "../response";
import type { ApiError } from "../api-error";
import { roleRequired } from "../middleware/authenticate";
import { commandFailures, noParameters, route, type Route } from "../route";

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

const upgradeId = parameter(UpgradeId, "Id of the upgrade.");

const oneUpgrade = { ...noParameters, path: { id: upgradeId } };

const onePrecheckRun = {
  ...noParameters,
  path: { id: upgradeId, precheckId: parameter(PrecheckId, "Id of the run of prechecks: that of its task.") },
};

const unknownUpgrade = ({ id = "" }: Readonly<Record<string, string>>) => notFound("upgrade", id);

const answersUpgrade = (description: string): Success<Upgrade> => ({
  status: 200,
  description,
  representation: json(Upgrade),
  taskId: (upgrade) => upgrade.taskId ?? upgrade.id,
  reasons: reasonsOf,
});

/** Only an ADMIN has an upgrade ignore maintenance windows. */
function ifAllowed<A>(
  { maintenanceWindow }: Pick<UpgradeSpec, "maintenanceWindow">,
  role: Role | undefined,
  then: () => TE.TaskEither<ApiError, A>,
): TE.TaskEither<ApiError, A> {
  return maintenanceWindow === undefined || roleCovers(role, "ADMIN")
    ? then()
    : TE.left(roleRequired("ADMIN", role, "maintenanceWindow IGNORE"));
}

/** What upgrades are chosen by, also where they are only counted. */
const filters = {
  search: parameter(
    SearchText,
    "Words that are all found: names of clusters, servers and creators, ids of change records, words in them or their first 3 to 12 characters; or the beginning of an id.",
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
        headers: {
          "Idempotency-Key": parameter(
            IdempotencyKey,
            "Makes a repeated request safe: the same key with the same body answers the same task.",
          ),
        },
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
      description: `Sorted by attention: what needs a decision, what is running, what is scheduled by its time, drafts, what has ended; each newest first. Other sorts hold among the first ${largestPage}: created and ended the newest first, begins the next first, name. Without pageNumber and pageSize: all that match, up to ${largestPage}.`,
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
        "The request of the start, with the times that the upgrade has now. With other times it is the request of another upgrade of the same kind.",
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
        "What the preview of its request showed, for the times that the upgrade has now and with the hosts as they are now. Of an upgrade that has begun, the waves have only the hosts that are left.",
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

/** In the log it is the upgrade's, which the path names: the Task of a run has an id that nothing else is found by. */
const precheckTaskAnswer = (status: number, description: string): Success<Task> => ({
  status,
  description,
  representation: json(Task),
});

/** Controlling one upgrade: commit, new time, cancellation, pause, resume, resolve, prechecks. */
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
        "Without a body, or without a field, it is a plain commit. A time commits a draft with it or gives a scheduled upgrade a new one. mgmtUpgradePatchSpecs gives switchovers of management servers another time, until they begin; alone it commits nothing. markForCancellation true cancels, and every other field is ignored then. maintenanceWindow `IGNORE` commits a draft that then waits for no maintenance window. Fields that are not known are refused.",
      request: {
        ...oneUpgrade,
        body: UpgradeUpdateSpec,
        bodyMayBeAbsent: true,
        partThatCounts,
        unknownFields: "REFUSED",
      },
      unknownPath: unknownUpgrade,
      bodyExample: upgradeUpdateExample,
      success: answersUpgrade("The upgrade as it is then"),
      successExample: upgradeExample,
      failures: commandFailures,
      handle: ({ path, body, caller, role }) =>
        ifAllowed(body, role, () => service.updateUpgrade(path.id, body, caller)),
    }),
    controlRoute(
      service,
      "pause",
      "Pause an upgrade",
      "No new host, cluster or product begins; the running host is finished.",
    ),
    controlRoute(service, "resume", "Resume a paused upgrade", "It continues where it was paused."),
    controlRoute(
      service,
      "resolve",
      "Give up a failed upgrade",
      "It can no longer be retried, and counts as resolved.",
    ),
    route({
      method: "POST",
      path: "/v1/upgrades/{id}/approve",
      access: "WRITE",
      role: "APPROVER",
      load: "COMMAND",
      operationId: "approveUpgrade",
      tag: "upgrades",
      summary: "Approve an upgrade",
      description:
        "Of the upgrade as it is planned: another time needs approvals again. Not by who has asked for it (403), and once by each person.",
      request: { ...oneUpgrade, body: ApprovalSpec, bodyMayBeAbsent: true, unknownFields: "REFUSED" },
      unknownPath: unknownUpgrade,
      bodyExample: { comment: "Agreed with the network team." },
      success: answersUpgrade("The upgrade as it is then"),
      successExample: upgradeExample,
      failures: commandFailures,
      handle: ({ path, body, caller }) => service.decideApproval(path.id, { name: "approve", ...body }, caller),
    }),
    route({
      method: "POST",
      path: "/v1/upgrades/{id}/reject",
      access: "WRITE",
      role: "APPROVER",
      load: "COMMAND",
      operationId: "rejectUpgrade",
      tag: "upgrades",
      summary: "Reject an upgrade",
      description: "It ends as cancelled with the comment, if nothing of it has begun.",
      request: { ...oneUpgrade, body: RejectionSpec, unknownFields: "REFUSED" },
      unknownPath: unknownUpgrade,
      bodyExample: { comment: "Not in the week of the fair." },
      success: answersUpgrade("The upgrade as it is then"),
      successExample: upgradeExample,
      failures: commandFailures,
      handle: ({ path, body, caller }) => service.decideApproval(path.id, { name: "reject", ...body }, caller),
    }),
    route({
      method: "POST",
      path: "/v1/upgrades/{id}/skip",
      access: "WRITE",
      role: "OPERATOR",
      load: "COMMAND",
      operationId: "skipPart",
      tag: "upgrades",
      summary: "Leave a cluster or a host out of an upgrade",
      description:
        "What has not begun, or has failed, is not upgraded; the lock of a cluster is released. What is in work is refused (409). Asked again, it changes nothing. Of a failed upgrade, the next retry leaves it out. The upgrade ends as COMPLETED_WITH_WARNING.",
      request: { ...oneUpgrade, body: SkipSpec, unknownFields: "REFUSED" },
      unknownPath: unknownUpgrade,
      bodyExample: skipExample,
      success: answersUpgrade("The upgrade as it is then"),
      successExample: upgradeExample,
      failures: commandFailures,
      handle: ({ path, body, caller }) => service.skipPart(path.id, body, caller),
    }),
    route({
      method: "POST",
      path: "/v1/upgrades/{id}/retry",
      access: "WRITE",
      role: "OPERATOR",
      load: "COMMAND",
      operationId: "retryParts",
      tag: "upgrades",
      summary: "Retry a failed upgrade, or a part of it",
      description:
        "Continues under the same id; work that is done is not repeated. Without a body all that is not done, as `PATCH /v1/tasks/{id}`. What is not retried stays failed, and the upgrade with it; it can be retried later.",
      request: { ...oneUpgrade, body: RetrySpec, bodyMayBeAbsent: true, unknownFields: "REFUSED" },
      unknownPath: unknownUpgrade,
      bodyExample: retryExample,
      success: answersUpgrade("The upgrade, which continues"),
      successExample: upgradeExample,
      failures: commandFailures,
      handle: ({ path, body, caller }) => service.retryParts(path.id, body, caller),
    }),
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
        "It no longer blocks this upgrade, also in later runs of its prechecks. Each finding is acknowledged by itself: one on a host only with its hostId. A finding that is not `isAcknowledgeable` must be fixed (409).",
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

function controlRoute(
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
    success: answersUpgrade("The upgrade as it is then"),
    successExample: upgradeExample,
    failures: commandFailures,
    handle: ({ path, caller }) => service.controlUpgrade(path.id, name, caller),
  });
}
