import * as E from "fp-ts/Either";
import type { ErrorBody } from "../errors";
import { upgradeTitle, upperFirst } from "../names";
import { keepsTimes } from "../plan/schedule";
import type { Task } from "../spec/task";
import type { Upgrade, UpgradePhase } from "../spec/upgrade";
import { awaitsLateCommit } from "../task/late-start";
import { precheckErrors, prechecksPassed, precheckType } from "../task/prechecks";
import { type AskedFor, requestRules } from "./request-rules";
import type { ResourceStanding } from "./skip";
import { beingCancelled, type HistoryLength, type RequestContext, type RequestOutcome } from "./upgrade-request";

/** A running upgrade as it was last published. */
export interface PublishedUpgrade {
  readonly upgrade: Upgrade;
  readonly task: Task;
  readonly cancelRequested: boolean;
  /** Of its Workflow. */
  readonly history: HistoryLength;
  /** Whether it has work to do that may change what it has published, such as a request that it has not seen yet. */
  readonly mayChange: boolean;
}

/**
 * Why an upgrade would refuse a request, as far as its published state tells; undefined where only the upgrade itself can
 * decide. Requests that are refused so are not sent to it: Temporal keeps each of them, and takes no more after some
 * thousands. `now` in epoch milliseconds.
 */
export function publishedRefusal(
  { name, ...asked }: AskedFor & { readonly name: RequestOutcome["request"] },
  published: PublishedUpgrade,
  now: number,
): ErrorBody | undefined {
  const phase = phaseOf(published);
  if (!phase) return undefined;
  const context = contextOf(published, phase, now);
  if (context.cancelling) return beingCancelled(name, context);
  const judged = requestRules[name].decide(asked, context);
  return E.isLeft(judged) ? judged.left : undefined;
}

/**
 * Whether a scheduled upgrade is asked for what it will do anyway. Such a request is not sent either. False where the
 * published state cannot tell.
 */
export function changesNothing(
  { name, ...commit }: AskedFor & { readonly name: RequestOutcome["request"] },
  { upgrade: { status, resourceUpgradeSpecs }, task, mayChange }: PublishedUpgrade,
): boolean {
  if (
    name !== "commit" ||
    commit.mgmtUpgradePatchSpecs !== undefined ||
    commit.maintenanceWindow !== undefined ||
    awaitsLateCommit(task)
  )
    return false;
  return !mayChange && status === "SCHEDULED" && keepsTimes(resourceUpgradeSpecs ?? [], commit);
}

/** The phase that the two statuses follow from. A draft whose prechecks have not begun reads as one that waits. */
function phaseOf({ upgrade: { status }, task }: PublishedUpgrade): UpgradePhase | undefined {
  switch (status) {
    case "DRAFT":
      return task.status === "In Progress" ? "DRAFT_PRECHECKS" : "DRAFT_WAITING";
    case "PENDING":
      return "ACCEPTED";
    case "SCHEDULED":
      return awaitsLateCommit(task) ? "START_MISSED" : "SCHEDULED";
    case "INPROGRESS":
      return "RUNNING";
    case "PAUSED":
      return "PAUSED";
    case "COMPLETED_WITH_FAILURE":
      return "FAILED";
    default:
      return undefined;
  }
}

function contextOf(
  { upgrade, task, cancelRequested, history }: PublishedUpgrade,
  phase: UpgradePhase,
  now: number,
): RequestContext {
  const servers = (task.resources ?? []).filter(({ type }) => type === "MGMT_SERVER");
  return {
    phase,
    failedPrechecks: precheckErrors(task),
    awaitsResolution: phase === "FAILED",
    // A failure stays unresolved until the retry has succeeded.
    decision: phase !== "FAILED" && task.resolutionStatus === "UNRESOLVED" ? "retry" : undefined,
    isRetryable: task.isRetryable === true,
    committed: false,
    startMissed: awaitsLateCommit(task),
    cancelling: cancelRequested,
    // How they are upgraded and when is not published.
    servers: servers.map(({ resourceId = "", name = resourceId }) => ({
      resourceId,
      name,
      mechanism: "ReducedDowntimeMigration",
      hasEnded: false,
    })),
    history,
    now,
    approvals: upgrade.approvals,
    askers: upgrade.approvals?.askedBy ?? [],
    prechecksPassed: prechecksPassed(task),
    hasBegun: upgrade.startedAt !== undefined,
    resources: standings(task),
    skippedHosts: [],
  };
}

/** The resources of an upgrade, of which only the upgrade itself knows how far they are. */
function standings({ subTasks = [] }: Task): readonly ResourceStanding[] {
  return subTasks
    .filter(({ type }) => type !== precheckType)
    .flatMap((product, place) =>
      (product.subTasks ?? []).map(({ type, resources }): ResourceStanding => {
        const { resourceId = "", name = resourceId } = resources?.[0] ?? {};
        const isCluster = type === "CLUSTER_UPGRADE";
        return {
          resourceId,
          title: isCluster ? `Cluster ${name}` : name,
          isCluster,
          product: place,
          state: "UNKNOWN",
        };
      }),
    );
}

/** What can be asked of an upgrade: its Signals, and its cancellation. */
export type Request = RequestOutcome["request"] | "cancel";

/** Why an upgrade that has ended takes no request any more. `status` is that of the Upgrade. */
export function endedRefusal(request: Request, upgrade: Pick<Upgrade, "id" | "name" | "status">): ErrorBody {
  const { status = "COMPLETED_WITH_FAILURE" } = upgrade;
  return {
    errorCode: "REQUEST_NOT_POSSIBLE",
    errorType: "CONFLICT",
    message: `${upperFirst(upgradeTitle(upgrade))} has ended as ${status}, so ${request} is no longer possible.`,
    remediationMessage: "Read its Task to see what was done, and start a new upgrade for the rest.",
    context: { status },
  };
}

/**
 * Whether an upgrade that ended before it could be asked has evidently done what a request was for. Its Workflow is
 * not asked any more: that would replay its whole history.
 */
export function endedAsAsked(request: Request, task: Task): boolean {
  const succeeded = ["Successful", "COMPLETED_WITH_WARNING", "SKIPPED"].includes(task.status);
  switch (request) {
    case "commit":
    case "resume":
    case "retry":
      return succeeded;
    case "resolve":
      return task.status === "Failed" && task.resolutionStatus === "RESOLVED";
    case "cancel":
      return task.status === "Cancelled";
    case "reject":
      return task.status === "Cancelled";
    case "pause":
    case "prechecks":
    case "approve":
    case "acknowledge":
    case "skip":
      return false;
  }
}
