import {
  ApprovalSpec,
  partThatCounts,
  RejectionSpec,
  RetrySpec,
  SkipSpec,
  UpgradeUpdateSpec,
} from "../../domain/spec/upgrade-spec";
import type { UpgradeService } from "../../upgrades/upgrade-service";
import { retryExample, skipExample, upgradeExample, upgradeUpdateExample } from "../openapi/examples";
import { commandFailures, route, type Route } from "../route";
import { answersUpgrade, ifAllowed, oneUpgrade, unknownUpgrade } from "./one-upgrade";

/** Controlling one upgrade: commit, new time, cancellation, pause, resume, resolve, approval, skip, retry. */
export function upgradeRequestsRoutes(service: UpgradeService): Route[] {
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
        "Without a body, or without a field, it is a plain commit. A time commits a draft for this time, or reschedules a scheduled upgrade. mgmtUpgradePatchSpecs reschedules switchovers of management servers until they begin; alone it commits nothing. markForCancellation true cancels, and all other fields are ignored. maintenanceWindow `IGNORE` has the upgrade wait for no maintenance window from now on, also where it waits for one or has begun; it commits a draft. Unknown fields are refused.",
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
    controlRoute(service, "pause", "Pause an upgrade", "No new host, cluster or product begins; hosts in work finish."),
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
        "Approves the current plan: a new time needs approvals again. Whoever requested the upgrade cannot approve it (403), and each person counts once.",
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
      description: "The upgrade ends as cancelled, with the comment. Only possible before anything of it has begun.",
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
        "Leaves out what has not begun or has failed, and releases the lock of a cluster. What is in work is refused (409). Repeating the request changes nothing. A failed upgrade leaves it out at its next retry. The upgrade ends as COMPLETED_WITH_WARNING.",
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
        "Continues under the same id; finished work is not repeated. Without a body everything that is not done is retried, as by `PATCH /v1/tasks/{id}`. What is not retried stays failed, and so does the upgrade; it can be retried later.",
      request: { ...oneUpgrade, body: RetrySpec, bodyMayBeAbsent: true, unknownFields: "REFUSED" },
      unknownPath: unknownUpgrade,
      bodyExample: retryExample,
      success: answersUpgrade("The upgrade, which continues"),
      successExample: upgradeExample,
      failures: commandFailures,
      handle: ({ path, body, caller }) => service.retryParts(path.id, body, caller),
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
