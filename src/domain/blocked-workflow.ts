import type { ErrorBody } from "./error-body";
import { hasTaskEnded } from "./lost-upgrade";
import { hasEndedPart } from "./resource-end";
import type { SubTask, Task } from "./task";
import { precheckType } from "./task-prechecks";
import type { WaitingFor } from "./waiting-for";

/** What the Workflow of each type runs, by which metrics count them. */
export const workflowKinds = {
  upgradeWorkflow: "upgrade",
  clusterUpgradeWorkflow: "cluster",
  netvirtUpgradeWorkflow: "netvirt",
  mgmtUpgradeWorkflow: "mgmt",
  notifyWorkflow: "notifications",
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
  const first = timedOut ? "Check that the workers are not overloaded, and start more where they are. Else: " : "";
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
export function withBlocked(task: Task, blocked: readonly BlockedWorkflow[]): Task {
  if (blocked.length === 0) return task;
  const byLock = new Map(blocked.map((one) => [one.workflowId.replace(/^[a-z]+\//, ""), one]));
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

function describeBlock({ workflowId, kind, failures, since, reason }: BlockedWorkflow): string {
  const from = since === undefined ? "" : ` since ${since}`;
  const name = kind === "upgrade" ? "The Workflow of this upgrade" : `Workflow ${workflowId}`;
  return `${name} cannot continue: its Workflow Task has failed ${failures} times${from}: ${reason}`;
}

const deploy = "Deploy workers of a build that can continue it, usually the one before; it then continues by itself.";

/** What to do about a blocked Workflow of each kind. */
const remedies: Readonly<Record<WorkflowKind, string>> = {
  upgrade: `${deploy} To end it without one, terminate its Workflow: its resources stop safely and restore their settings.`,
  cluster: byTerminating("cluster"),
  netvirt: byTerminating("NETVIRT instance"),
  mgmt: byTerminating("management server"),
  notifications: `${deploy} The upgrade itself continues; only its notifications wait.`,
};

function byTerminating(what: string): string {
  return `${deploy} To release the ${what} without one, cancel the Task, terminate this Workflow, and restore the settings of the ${what} by hand.`;
}
