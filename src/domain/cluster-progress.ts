import type { ErrorBody } from "./error-body";
import {
  baselineHostStages,
  hostStages,
  type ClusterHost,
  type HostProgress,
  type HostResult,
} from "./host-remediation";
import { describePart, spoken, withPause } from "./paused-part";
import { rolloutOf } from "./rollout";
import type { Stage, StageStatus, SubTask, SubTaskStatus } from "./task";
import type { ClusterKind, ClusterUpgradePlan } from "./upgrade-plan";

/** The stages of a cluster in their order; the `type` of each Stage. */
export const clusterStages = {
  READ_HOSTS: "Read hosts",
  PUT_REMEDIATION_POLICY: "Set remediation policy",
  SET_DESIRED_IMAGE: "Set desired image",
  UPGRADE_HOSTS: "Upgrade hosts",
  RESTORE_REMEDIATION_POLICY: "Restore remediation policy",
} as const;
export type ClusterStageType = keyof typeof clusterStages;

/** The same stages of a baseline-managed cluster, which has neither a policy nor an image: what is done instead. */
export const baselineClusterStages: Readonly<Record<ClusterStageType, string>> = {
  READ_HOSTS: "Read hosts",
  PUT_REMEDIATION_POLICY: "Switch off admission control and power management where asked",
  SET_DESIRED_IMAGE: "Verify the patch source",
  UPGRADE_HOSTS: "Upgrade hosts",
  RESTORE_REMEDIATION_POLICY: "Restore admission control and power management",
};

/** How a resource's part of an upgrade ended. WITHIN_TOLERANCE: hosts failed, no more than its policy allows. */
export type ClusterOutcome = "SUCCESSFUL" | "WITHIN_TOLERANCE" | "NOTHING_TO_DO" | "FAILED" | "CANCELLED" | "NOT_BEGUN";

/** What happens to a cluster while it is upgraded, each with its time as a Timestamp. */
export type ClusterProgress = { readonly at: string } & (
  | { readonly type: "StageStarted" | "StageSucceeded"; readonly stage: ClusterStageType }
  | { readonly type: "StageFailed"; readonly stage: ClusterStageType; readonly error: ErrorBody }
  /** `upgradedBefore`: ids of hosts that an earlier attempt of this upgrade has upgraded. `kind`: IMAGE where absent. */
  | {
      readonly type: "HostsRead";
      readonly hosts: readonly ClusterHost[];
      readonly upgradedBefore: readonly string[];
      readonly kind?: ClusterKind;
    }
  /** No host is in work: `description` says what is waited for, and how long. */
  | { readonly type: "Waiting"; readonly description: string }
  /** The upgrade is paused, or resumed. */
  | { readonly type: "PauseChanged"; readonly paused: boolean }
  | { readonly type: "HostStarted"; readonly host: string }
  | { readonly type: "HostSucceeded"; readonly host: string; readonly result: HostResult }
  | {
      readonly type: "HostFailed";
      readonly host: string;
      readonly error: ErrorBody;
      readonly stages?: readonly Stage[];
    }
  | { readonly type: "Ended"; readonly outcome: ClusterOutcome; readonly error?: ErrorBody }
);

/** The SubTask of a cluster before anything of it has happened. */
export function initialClusterSubTask(cluster: ClusterUpgradePlan, at: string): SubTask {
  return {
    name: `Upgrade cluster ${cluster.name}`,
    type: "CLUSTER_UPGRADE",
    description: `Upgrade the hosts of ${cluster.name} to ${cluster.targetVersion}, ${howManyAtOnce(cluster)}.`,
    status: "PENDING",
    creationTimestamp: at,
    stages: stagesOf(cluster.kind === "BASELINE" ? baselineClusterStages : clusterStages, at),
    resources: [{ resourceId: cluster.resourceId, name: cluster.name }],
  };
}

function howManyAtOnce(cluster: ClusterUpgradePlan): string {
  const { hostsAtOnce } = rolloutOf(cluster);
  const allowed = cluster.rollout?.hostsAtOnce ?? 1;
  if (hostsAtOnce > 1) return `${hostsAtOnce} at a time`;
  // The operator has said otherwise in the inventory, and would look for the reason there.
  return allowed > 1
    ? `one after another (its rollout policy allows ${allowed} at a time, but virtual machines can be suspended to memory on one host at a time only)`
    : "one after another";
}

/** The next state of a cluster's SubTask. Pure; something that cannot happen in a state leaves it as it is. */
export function applyClusterProgress(subTask: SubTask, progress: ClusterProgress): SubTask {
  const { at } = progress;
  if (hasEnded(subTask)) return subTask;
  switch (progress.type) {
    case "StageStarted": {
      const started = withStage(subTask, progress.stage, "PENDING", (stage) => ({ ...stage, status: "IN_PROGRESS" }));
      return { ...started, status: "IN_PROGRESS" };
    }
    case "StageSucceeded":
      return withStage(subTask, progress.stage, "IN_PROGRESS", (stage) => ({
        ...stage,
        status: "SUCCESSFUL",
        completionTimestamp: at,
      }));
    case "StageFailed":
      return withStage(subTask, progress.stage, "IN_PROGRESS", (stage) => ({
        ...stage,
        status: "FAILED",
        completionTimestamp: at,
        errors: [progress.error],
      }));
    case "HostsRead":
      if (subTask.subTasks) return subTask;
      return { ...subTask, subTasks: progress.hosts.map((host) => initialHostSubTask(host, progress, at)) };
    case "Waiting":
      return applyWait(subTask, progress.description);
    case "PauseChanged":
      return withPause(subTask, progress.paused);
    case "HostStarted":
      return withHost(atWork(subTask), progress.host, "PENDING", (host) => ({ ...host, status: "IN_PROGRESS" }));
    case "HostSucceeded":
      return withHost(subTask, progress.host, "IN_PROGRESS", (host) => ({
        ...host,
        status: "SUCCESSFUL",
        description: `Runs ${progress.result.version}.`,
        completionTimestamp: at,
        stages: progress.result.stages,
      }));
    case "HostFailed":
      return withHost(subTask, progress.host, "IN_PROGRESS", (host) => ({
        ...host,
        status: "FAILED",
        description: progress.error.message,
        completionTimestamp: at,
        stages: endStages(progress.stages ?? host.stages ?? [], at, progress.error),
        errors: [progress.error],
      }));
    case "Ended":
      return endCluster(withPause(atWork(subTask), false), progress.outcome, at, progress.error);
  }
}

/** What the upgrade itself keeps of a cluster that has ended: how it went, without its hosts. */
export function clusterResultSubTask(
  cluster: ClusterUpgradePlan,
  { outcome, hosts, error }: { outcome: ClusterOutcome; hosts: HostCounts; error?: ErrorBody },
  created: string,
  at: string,
): SubTask {
  const { stages: _ofItsOwnWorkflow, ...subTask } = initialClusterSubTask(cluster, created);
  return {
    ...subTask,
    status: endStatuses[outcome],
    description: `${hosts.upgraded + hosts.skipped} of ${hosts.total} hosts at ${cluster.targetVersion}, ${hosts.failed} failed, ${hosts.left} not begun.`,
    completionTimestamp: at,
    ...(error && { errors: [error] }),
  };
}

/** What is known from outside of a host whose Activity is pending, between two events of its Workflow. */
export interface HostActivity {
  readonly host: string;
  readonly progress?: HostProgress;
  readonly lastError?: ErrorBody;
  /** When the server tries again; absent while an attempt runs. */
  readonly nextAttemptAt?: string;
  /** As its retry policy says; what an earlier run of the Activity has used up is only in its progress. */
  readonly maximumAttempts: number;
}

/** Grafts what a pending Activity says onto its host: stages, the attempt, its last error, the time of the next one. */
export function applyHostActivity(subTask: SubTask, activity: HostActivity): SubTask {
  const { progress, lastError = progress?.lastError, nextAttemptAt } = activity;
  const maximumAttempts = progress?.maximumAttempts ?? activity.maximumAttempts;
  const attempt = (progress?.reportedFailures ?? 0) + 1;
  const attempts = maximumAttempts > 1 ? ` (attempt ${attempt} of ${maximumAttempts})` : "";
  const description =
    nextAttemptAt === undefined
      ? `${progress?.activity ?? "Waiting for a worker."}${attempts}`
      : `Attempt ${attempt} of ${maximumAttempts} starts at ${nextAttemptAt}, after: ${lastError?.message ?? "a failure"}`;
  return withHost(subTask, activity.host, "IN_PROGRESS", (host) => ({
    ...host,
    description,
    ...(progress && { stages: progress.stages }),
    ...(lastError && { errors: [lastError] }),
  }));
}

/** Hosts of a cluster by how far they are. `skipped` needed nothing; `left` have not begun. */
export interface HostCounts {
  readonly total: number;
  readonly upgraded: number;
  readonly skipped: number;
  readonly failed: number;
  readonly left: number;
}

/**
 * A cluster as its upgrade and its own Workflow together show it. Its own Workflow knows the hosts; where that ended
 * without a word (terminated, say), its upgrade knows how it ended.
 */
export function mergeCluster(known: SubTask, own: SubTask): SubTask {
  if (!hasEnded(known) || hasEnded(own)) return own;
  const at = known.completionTimestamp ?? own.creationTimestamp;
  return {
    ...own,
    status: known.status,
    description: known.description,
    completionTimestamp: at,
    stages: endStages(own.stages ?? [], at, known.errors?.[0]),
    subTasks: (own.subTasks ?? []).map((host) => loseHost(host, at, known.errors)),
    ...(known.errors && { errors: known.errors }),
  };
}

/** Counts the hosts of a cluster's SubTask. */
export function countHosts(subTask: SubTask): HostCounts {
  const hosts = subTask.subTasks ?? [];
  const of = (...statuses: SubTaskStatus[]) => hosts.filter((host) => statuses.includes(host.status)).length;
  const skipped = hosts.filter((host) => host.status === "NOT_APPLICABLE" && isAlreadyThere(host)).length;
  return {
    total: hosts.length,
    upgraded: of("SUCCESSFUL"),
    skipped,
    failed: of("FAILED"),
    left: of("PENDING", "NOT_APPLICABLE") - skipped,
  };
}

/** A fresh list of stages, all of them to come. */
export function stagesOf(stages: Readonly<Record<string, string>>, at: string): Stage[] {
  return Object.entries(stages).map(([type, name]) => ({
    name,
    type,
    description: name,
    status: "PENDING",
    creationTimestamp: at,
  }));
}

/** Stages of something that has ended: those never begun are left out, one in progress failed with `error`. */
export function endStages(stages: readonly Stage[], at: string, error?: ErrorBody): Stage[] {
  return stages
    .filter((stage) => stage.status !== "PENDING")
    .map((stage) =>
      stage.status === "IN_PROGRESS"
        ? { ...stage, status: "FAILED", completionTimestamp: at, ...(error && { errors: [error] }) }
        : stage,
    );
}

/** Error of something that was under way when the upgrade was cancelled (docs/spec-gaps.md, interrupted). */
export function interrupted(what: string): ErrorBody {
  return {
    errorCode: "CANCELLED",
    errorType: "CANCELLED",
    message: `${what} was under way when the upgrade was cancelled.`,
    remediationMessage: "Check its state in the component manager before starting another upgrade.",
  };
}

const waiting = "Waiting ";

/** A cluster in which no host is in work, and what it waits for. */
export function applyWait(subTask: SubTask, what: string): SubTask {
  return describePart(subTask, `${waiting}${what}`);
}

/** Work goes on, or has ended: nothing is waited for any more. */
function atWork(subTask: SubTask): SubTask {
  return spoken(subTask).startsWith(waiting) ? describePart(subTask, "Upgrades its hosts.") : subTask;
}

const alreadyThere = "Already at";

function isAlreadyThere(host: SubTask): boolean {
  return host.description.startsWith(alreadyThere);
}

function initialHostSubTask(
  host: ClusterHost,
  { upgradedBefore, kind }: Extract<ClusterProgress, { type: "HostsRead" }>,
  at: string,
): SubTask {
  const common = {
    name: host.fqdn,
    type: "HOST_UPGRADE",
    creationTimestamp: at,
    resources: [{ resourceId: host.host, fqdn: host.fqdn, name: host.fqdn, type: "HOSTOS_HOST" as const }],
  };
  if (!host.atTarget) {
    const description = `Waiting for its turn; runs ${host.version || "an unknown version"}.`;
    return {
      ...common,
      status: "PENDING",
      description,
      stages: stagesOf(kind === "BASELINE" ? baselineHostStages : hostStages, at),
    };
  }
  if (upgradedBefore.includes(host.host)) {
    const description = `Runs ${host.version}; upgraded by an earlier attempt.`;
    return { ...common, status: "SUCCESSFUL", description, completionTimestamp: at };
  }
  const description = `${alreadyThere} ${host.version}: nothing to do.`;
  return { ...common, status: "NOT_APPLICABLE", description, completionTimestamp: at };
}

const endStatuses: Record<ClusterOutcome, SubTaskStatus> = {
  SUCCESSFUL: "SUCCESSFUL",
  WITHIN_TOLERANCE: "SUCCESSFUL",
  NOTHING_TO_DO: "NOT_APPLICABLE",
  FAILED: "FAILED",
  CANCELLED: "FAILED",
  NOT_BEGUN: "NOT_APPLICABLE",
};

function endCluster(subTask: SubTask, outcome: ClusterOutcome, at: string, error?: ErrorBody): SubTask {
  const { stages = [], ...rest } = subTask;
  const ended = endStages(stages, at, error);
  const hosts = subTask.subTasks?.map((host) => endHost(host, at));
  return {
    ...rest,
    status: endStatuses[outcome],
    completionTimestamp: at,
    ...(ended.length > 0 && { stages: ended }),
    ...(hosts && { subTasks: hosts }),
    ...(error && { errors: [error] }),
  };
}

function endHost(host: SubTask, at: string): SubTask {
  if (host.status === "PENDING") {
    const { stages: _neverBegun, ...rest } = host;
    return { ...rest, status: "NOT_APPLICABLE", description: "Not begun.", completionTimestamp: at };
  }
  if (host.status !== "IN_PROGRESS") return host;
  const error = interrupted(`Host ${host.name}`);
  return {
    ...host,
    status: "FAILED",
    description: error.message,
    completionTimestamp: at,
    stages: endStages(host.stages ?? [], at, error),
    errors: [error],
  };
}

/** What was last told of a host is old: it may have been begun, and even upgraded, since then. */
function loseHost(host: SubTask, at: string, errors?: ErrorBody[]): SubTask {
  if (hasEnded(host)) return host;
  const ended = { description: "In an unknown state: the Workflow of its cluster ended before it could tell." };
  if (host.status === "PENDING") return { ...endHost(host, at), ...ended };
  const stages = endStages(host.stages ?? [], at, errors?.[0]);
  return { ...host, ...ended, status: "FAILED", completionTimestamp: at, stages, ...(errors && { errors }) };
}

function hasEnded({ status }: SubTask): boolean {
  return status !== "PENDING" && status !== "IN_PROGRESS";
}

/** A stage changed, where it is in the status from which the change happens. */
function withStage(
  subTask: SubTask,
  type: ClusterStageType,
  from: StageStatus,
  change: (stage: Stage) => Stage,
): SubTask {
  const applies = (stage: Stage) => stage.type === type && stage.status === from;
  return { ...subTask, stages: (subTask.stages ?? []).map((stage) => (applies(stage) ? change(stage) : stage)) };
}

/** A host changed, where it is in the status from which the change happens. */
function withHost(subTask: SubTask, id: string, from: SubTaskStatus, change: (host: SubTask) => SubTask): SubTask {
  const applies = (host: SubTask) => host.resources?.[0]?.resourceId === id && host.status === from;
  return subTask.subTasks
    ? { ...subTask, subTasks: subTask.subTasks.map((host) => (applies(host) ? change(host) : host)) }
    : subTask;
}
