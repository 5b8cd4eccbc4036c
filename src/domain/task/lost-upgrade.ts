import type { ErrorBody } from "../errors";
import { notificationErrors, notificationId, type UpgradeNotification } from "../notifications/upgrade-notification";
import { changeRecordOf } from "../spec/change-record";
import type { SubTask, Task, WaitingFor } from "../spec/task";
import { statusOfPhase, type Upgrade } from "../spec/upgrade";
import { toEpochMilliseconds } from "../timestamp";
import { precheckType } from "./prechecks";
import { hasEndedPart } from "./sub-task";
import { applyProgress } from "./task-progress";

/** How a Workflow can end without having said so itself. */
export type LostBecause = "TERMINATED" | "TIMED_OUT" | "FAILED";

const because: Record<LostBecause, string> = {
  TERMINATED: "was terminated in Temporal",
  TIMED_OUT: "exceeded its time limit in Temporal",
  FAILED: "failed unexpectedly",
};

/** Whether a Task says of itself that it has ended. */
export function hasTaskEnded(task: Pick<Task, "status">): boolean {
  return !["PENDING", "Pending", "IN_PROGRESS", "In Progress"].includes(task.status);
}

/** What is wrong with an upgrade whose Workflow ended without a word. */
function lostError(reason: LostBecause): ErrorBody {
  return {
    errorCode: "UPGRADE_LOST",
    errorType: "INTERNAL",
    message: `The Workflow of this upgrade ${because[reason]}; its resources may be in any state.`,
    remediationMessage: "Check hosts and settings of its clusters in the component managers, then start a new upgrade.",
  };
}

/** The Task of an upgrade whose Workflow ended at `at` without a word: failed, and past retrying. */
export function lostTask(task: Task, reason: LostBecause, at: string): Task {
  const failed = applyProgress(task, { type: "PhaseEntered", phase: "FAILED", errors: [lostError(reason)], at });
  return { ...failed, isRetryable: false };
}

/** The Upgrade of such a Workflow. */
export function lostUpgrade(upgrade: Upgrade, at: string): Upgrade {
  const { waitingFor: _, until: _end, decideBy: _by, expectedEnd: _expected, workingSince: _since, ...rest } = upgrade;
  return { ...rest, status: "COMPLETED_WITH_FAILURE", phase: "FAILED", since: at, endTime: toEpochMilliseconds(at) };
}

/** What the Workflow of each type runs, by which metrics count them. */
export const workflowKinds = {
  upgradeWorkflow: "upgrade",
  clusterUpgradeWorkflow: "cluster",
  netvirtUpgradeWorkflow: "netvirt",
  mgmtUpgradeWorkflow: "mgmt",
  notifyWorkflow: "notifications",
  watchUpgradeWorkflow: "notifications",
  readinessWorkflow: "readiness",
} as const;
export type WorkflowKind = (typeof workflowKinds)[keyof typeof workflowKinds];

/**
 * After how many failed tries in a row a Workflow counts as blocked. Temporal repeats the first try at once and the later
 * ones after ten seconds or more, so that this is reached after about twenty seconds. One failed try is normal when a worker is
 * stopped or killed; two are while workers of two builds run side by side.
 */
export const failuresUntilBlocked = 3;

/** A running Workflow whose Workflow Task fails again and again, so that it does nothing until that is solved. */
export interface BlockedWorkflow {
  readonly workflowId: string;
  readonly runId: string;
  readonly kind: WorkflowKind;
  readonly upgradeId: string;
  /** Name of the resource whose Workflow it is, where a Task tells it. */
  readonly resourceName?: string;
  /** How many tries have failed since the last one that did not. */
  readonly failures: number;
  /** Timestamp of the first of them. */
  readonly since?: string;
  /** Whether workers did not complete it in time, rather than fail: they hang, or are too busy. */
  readonly timedOut: boolean;
  /** What the last recorded one failed with, on one line. */
  readonly reason: string;
}

/** What a blocked Workflow means for its upgrade and what to do. */
export function blockedError(blocked: BlockedWorkflow): ErrorBody {
  const { workflowId, runId, upgradeId, failures, since, reason, timedOut } = blocked;
  const first = timedOut ? "Check whether the workers are overloaded, and start more if so. Otherwise: " : "";
  return {
    errorCode: "WORKFLOW_BLOCKED",
    errorType: "INTERNAL",
    message: describeBlock(blocked),
    remediationMessage: `${first}${remedies[blocked.kind]} See "A Workflow is blocked" in docs/operating.md.`,
    context: {
      workflowId,
      runId,
      upgradeId,
      failures: String(failures),
      ...(since !== undefined && { since }),
      reason,
    },
  };
}

/** Puts every blocked Workflow of an upgrade on its Task, and that of a resource on its SubTask too. */
export function withBlocked(task: Task, found: readonly BlockedWorkflow[]): Task {
  if (found.length === 0) return task;
  const names = new Map((task.resources ?? []).map(({ resourceId = "", name }) => [resourceId, name]));
  const blocked = found.map((one): BlockedWorkflow => {
    const resourceName = names.get(resourceIdOf(one));
    return { ...one, ...(resourceName !== undefined && { resourceName }) };
  });
  const byLock = new Map(blocked.map((one) => [resourceIdOf(one), one]));
  // Notifications hold up nobody.
  const [first] = blocked.filter(({ kind }) => kind !== "notifications");
  return {
    ...task,
    ...(first && !hasTaskEnded(task) && { waitingFor: toWaitingFor(first) }),
    errors: [...(task.errors ?? []), ...blocked.map(blockedError)],
    ...(task.subTasks && {
      subTasks: task.subTasks.map((product) =>
        product.type === precheckType || !product.subTasks
          ? product
          : {
              ...product,
              subTasks: product.subTasks.map((resource) => {
                const own = byLock.get(resource.resources?.[0]?.resourceId ?? "");
                return own ? blockResource(resource, own) : resource;
              }),
            },
      ),
    }),
  };
}

function resourceIdOf({ workflowId }: BlockedWorkflow): string {
  return workflowId.replace(/^[a-z]+\//, "");
}

function blockResource(resource: SubTask, blocked: BlockedWorkflow): SubTask {
  return {
    ...resource,
    ...(!hasEndedPart(resource) && { waitingFor: toWaitingFor(blocked) }),
    errors: [...(resource.errors ?? []), blockedError(blocked)],
  };
}

function toWaitingFor(blocked: BlockedWorkflow): WaitingFor {
  const { failures, since } = blocked;
  return {
    code: "WORKFLOW_TASK_FAILING",
    message: describeBlock(blocked),
    attempts: failures,
    ...(since !== undefined && { since }),
  };
}

function describeBlock({ workflowId, resourceName, kind, failures, since, reason }: BlockedWorkflow): string {
  const from = since === undefined ? "" : ` since ${since}`;
  const name =
    kind === "upgrade"
      ? "The Workflow of this upgrade"
      : resourceName === undefined
        ? `Workflow ${workflowId}`
        : `The Workflow of ${resourceName} (${workflowId})`;
  return `${name} cannot continue: its Workflow Task has failed ${failures} times${from}: ${reason}`;
}

const deploy =
  "Deploy workers of a build that can continue it, usually the previous one; it then continues automatically.";

/** What to do about a blocked Workflow of each kind. */
const remedies: Readonly<Record<WorkflowKind, string>> = {
  upgrade: `${deploy} To end it without such a build, terminate its Workflow: its resources stop safely and restore their settings.`,
  cluster: byTerminating("cluster"),
  netvirt: byTerminating("NETVIRT instance"),
  mgmt: byTerminating("management server"),
  notifications: `${deploy} The upgrade itself continues; only its notifications wait.`,
  readiness: `${deploy} It changes nothing: without such a build, terminate its Workflow and start another check.`,
};

function byTerminating(what: string): string {
  return `${deploy} To release the ${what} without such a build, cancel the Task, terminate this Workflow, and restore the settings of the ${what} manually.`;
}

/** The notification of an upgrade that ended without a word, after the latest one that it told. `time` is a Timestamp. */
export function lostUpgradeNotification(
  latest: UpgradeNotification,
  reason: LostBecause,
  time: string,
): UpgradeNotification {
  const { upgradeId, name, bundleId, resources, resourceCount, link, createdBy } = latest.data;
  const changeRecord = changeRecordOf(latest.data);
  const sequence = latest.sequence + 1;
  const { task: taskStatus, upgrade: status } = statusOfPhase("FAILED");
  const errors = notificationErrors([lostError(reason)]);
  return {
    id: notificationId(upgradeId, sequence),
    sequence,
    type: "upgrade.lost",
    time,
    data: {
      ...{ upgradeId, name, bundleId, status, taskStatus, errors, wanted: "CHECK_RESOURCES" },
      ...(resources && { resources }),
      ...(resourceCount !== undefined && { resourceCount }),
      ...(link !== undefined && { link }),
      ...(createdBy !== undefined && { createdBy }),
      ...changeRecord,
    },
  };
}
