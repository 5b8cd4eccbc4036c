import { type ErrorBody, remediationFor } from "../errors";
import type { Closed } from "../opening";
import { type ClusterKind, type ClusterUpgradePlan, rolloutOf } from "../plan/upgrade-plan";
import type { HostState, Stage, SubTask, SubTaskStatus, WaitingFor } from "../spec/task";
import { type CheckProgress, withCheck } from "./check-stages";
import {
  baselineHostStages,
  type ClusterHost,
  type HostAttempt,
  type HostResult,
  hostStages,
} from "./host-remediation";
import {
  applyStageProgress,
  attemptFields,
  endStages,
  type PendingAttempt,
  type StageLeft,
  type StageProgress,
  stagesOf,
} from "./resource-stages";
import { isLeftOut, type LeftOut } from "./left-out";
import {
  atWork,
  countParts,
  describePart,
  endResource,
  hasEndedPart,
  type HostCounts,
  interrupted,
  mergeEnded,
  type ResourceOutcome,
  resultSubTask,
  waitingPart,
  withClosure,
  withPause,
} from "./sub-task";

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

/** What happens to a cluster while it is upgraded, each with its time as a Timestamp. */
export type ClusterProgress = { readonly at: string } & (
  | StageProgress<ClusterStageType>
  | StageLeft<ClusterStageType>
  | CheckProgress
  | ({ readonly type: "HostsRead" } & HostsFound)
  /** Hosts that have joined the cluster since, in the order in which they are to be upgraded. */
  | { readonly type: "HostsJoined"; readonly hosts: readonly ClusterHost[]; readonly kind: ClusterKind }
  /** A host that has not begun is not to be upgraded. */
  | ({ readonly type: "HostLeftOut"; readonly host: string } & LeftOut)
  /** The cluster does not list a host any more. */
  | { readonly type: "HostLeft"; readonly host: string }
  /** The cluster ends before its end: how its hosts are now. */
  | { readonly type: "HostsLookedAt"; readonly hosts: readonly ClusterHost[] }
  /** No host is in work: what is waited for, and how long. */
  | { readonly type: "Waiting"; readonly waitingFor: WaitingFor }
  /** The upgrade is paused, or resumed. */
  | { readonly type: "PauseChanged"; readonly paused: boolean }
  /** A freeze keeps it from beginning what comes next, for which the message is why; none where it was lifted. */
  | { readonly type: "ClosureChanged"; readonly closed?: Closed }
  | { readonly type: "HostStarted"; readonly host: string }
  /** The cluster was not healthy, or everything is frozen: nothing was asked for, and the host waits again. */
  | { readonly type: "HostPutBack"; readonly host: string }
  | { readonly type: "HostSucceeded"; readonly host: string; readonly result: HostResult }
  | {
      readonly type: "HostFailed";
      readonly host: string;
      readonly error: ErrorBody;
      readonly stages?: readonly Stage[];
    }
  /** A failed host that an attempt had left in maintenance mode, or without its virtual machines, is back in service. */
  | { readonly type: "HostBackInService"; readonly host: string }
  | { readonly type: "Ended"; readonly outcome: ResourceOutcome; readonly error?: ErrorBody }
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
  const allowed = cluster.rollout.hostsAtOnce;
  if (hostsAtOnce > 1) return `${hostsAtOnce} at a time`;
  // The operator has said otherwise in the inventory, and would look for the reason there.
  return allowed > 1
    ? `one after another (its rollout policy allows ${allowed} at a time, but virtual machines can be suspended to memory on one host at a time only)`
    : "one after another";
}

/** The next state of a cluster's SubTask. Pure; something that cannot happen in a state leaves it as it is. */
export function applyClusterProgress(subTask: SubTask, progress: ClusterProgress): SubTask {
  const { at } = progress;
  if (hasEndedPart(subTask)) return subTask;
  switch (progress.type) {
    case "StageStarted":
    case "StageSucceeded":
    case "StageLeft":
    case "StageFailed":
      return applyStageProgress(subTask, progress, at);
    case "HostsRead":
      if (subTask.subTasks) return subTask;
      return { ...subTask, subTasks: progress.hosts.map((host) => initialHostSubTask(host, progress, at)) };
    case "HostsJoined":
      return {
        ...subTask,
        subTasks: [...(subTask.subTasks ?? []), ...joinedHosts(subTask, progress, at)],
      };
    case "HostLeftOut":
      return leaveHostOut(subTask, progress, at);
    case "HostLeft":
      return leftBy(leftBy(subTask, progress.host, "PENDING", at), progress.host, "IN_PROGRESS", at);
    case "HostsLookedAt":
      return { ...subTask, ...(subTask.subTasks && { subTasks: lookedAt(subTask.subTasks, progress.hosts) }) };
    case "Waiting":
      return waitingPart(subTask, progress.waitingFor);
    case "PauseChanged":
      return withPause(subTask, progress.paused);
    case "CheckAsked":
    case "CheckAnswered":
      return withCheck(subTask, progress, at);
    case "ClosureChanged":
      return withClosure(subTask, progress.closed);
    case "HostStarted":
      return withHost(upgradingHosts(subTask), progress.host, "PENDING", (host) => ({
        ...host,
        status: "IN_PROGRESS",
      }));
    case "HostPutBack":
      return withHost(subTask, progress.host, "IN_PROGRESS", (host) => ({ ...host, status: "PENDING" }));
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
    case "HostBackInService":
      return withHost(subTask, progress.host, "FAILED", (host) => ({
        ...host,
        description: `${host.description} It was back in service when last checked.`,
      }));
    case "Ended":
      return endResource(upgradingHosts(subTask), progress, at, (host) => endHost(host, at));
  }
}

/** Those hosts that the cluster's SubTask does not have yet. */
function joinedHosts(
  { subTasks = [] }: SubTask,
  { hosts, kind }: Pick<HostsFound, "hosts" | "kind">,
  at: string,
): SubTask[] {
  const known = new Set(subTasks.map(({ resources }) => resources?.[0]?.resourceId));
  return hosts
    .filter(({ host }) => !known.has(host))
    .map((host) => initialHostSubTask(host, { hosts, upgradedBefore: [], ...(kind && { kind }) }, at));
}

/** Hosts that have failed or are in work, with how they are now. */
function lookedAt(parts: readonly SubTask[], hosts: readonly ClusterHost[]): SubTask[] {
  const known = new Map(hosts.map((host) => [host.host, host]));
  return parts.map((part) => {
    const host = known.get(part.resources?.[0]?.resourceId ?? "");
    if (!host || (part.status !== "IN_PROGRESS" && part.status !== "FAILED")) return part;
    const { version, connection, inMaintenanceMode = false } = host;
    const hostState = { version, inMaintenanceMode, ...(connection !== undefined && { connection }) };
    const description = part.status === "FAILED" ? withState(part.description, hostState) : part.description;
    return { ...part, hostState, description };
  });
}

/** What is said of a host, and behind it how it is. */
function withState(description: string, state: HostState): string {
  return `${description.replace(/[.\s]+$/, "")}. ${describeState(state)}`;
}

function describeState({ version, connection, inMaintenanceMode }: HostState): string {
  const connected = connection === undefined ? "is connected" : `is ${connection}`;
  return `It runs ${version || "an unknown version"}, ${connected} and ${inMaintenanceMode ? "in" : "not in"} maintenance mode.`;
}

/** A host that is not in scope is told so also where it is at the target. */
function leaveHostOut(
  subTask: SubTask,
  { host: id, reasonCode, description }: { readonly host: string } & LeftOut,
  at: string,
): SubTask {
  const from: readonly SubTaskStatus[] = reasonCode === "NOT_IN_SCOPE" ? ["PENDING", "NOT_APPLICABLE"] : ["PENDING"];
  const change = ({ stages: _neverBegun, ...host }: SubTask): SubTask => {
    return { ...host, status: "NOT_APPLICABLE", reasonCode, description, completionTimestamp: at };
  };
  return from.reduce((all, status) => withHost(all, id, status, change), subTask);
}

function leftBy(subTask: SubTask, id: string, from: "PENDING" | "IN_PROGRESS", at: string): SubTask {
  return withHost(subTask, id, from, (host) => {
    const { stages = [], errors: _earlier, ...rest } = host;
    return {
      ...rest,
      status: "NOT_APPLICABLE",
      reasonCode: "HOST_LEFT_CLUSTER",
      description: "Skipped: the host is no longer in the cluster.",
      completionTimestamp: at,
      ...(from === "IN_PROGRESS" && { stages: endStages(stages, at, leftError(host.name)) }),
    };
  });
}

function leftError(name: string): ErrorBody {
  return {
    errorCode: "HOST_LEFT_CLUSTER",
    errorType: "FAILED_DEPENDENCY",
    message: `Host ${name} has left its cluster.`,
    remediationMessage: remediationFor("HOST_LEFT_CLUSTER"),
  };
}

/** What the upgrade itself keeps of a cluster that has ended: how it went, without its hosts. */
export function clusterResultSubTask(
  cluster: ClusterUpgradePlan,
  { hosts, ...ending }: { outcome: ResourceOutcome; hosts: HostCounts; error?: ErrorBody },
  created: string,
  at: string,
): SubTask {
  const description = `${hosts.upgraded + hosts.skipped} of ${hosts.total} hosts at ${cluster.targetVersion}, ${hosts.failed} failed, ${hosts.left} not started${hosts.leftOut === undefined ? "" : `, ${hosts.leftOut} left out`}.`;
  return resultSubTask(initialClusterSubTask(cluster, created), ending, { description, at });
}

/** A cluster as its upgrade and its own Workflow together show it; see {@link mergeEnded}. */
export function mergeCluster(known: SubTask, own: SubTask): SubTask {
  return mergeEnded(known, own, loseHost);
}

/** Work goes on, or has ended: nothing is waited for any more. */
function upgradingHosts(subTask: SubTask): SubTask {
  return subTask.waitingFor ? describePart(atWork(subTask), "Upgrades its hosts.") : subTask;
}

/** The hosts of a cluster as they were read before anything of them was changed. */
interface HostsFound {
  readonly hosts: readonly ClusterHost[];
  /** Ids of hosts that an earlier attempt of this upgrade has upgraded. */
  readonly upgradedBefore: readonly string[];
  /** IMAGE where absent. */
  readonly kind?: ClusterKind;
}

/** The SubTask of a host before its turn. */
function initialHostSubTask(host: ClusterHost, { upgradedBefore, kind }: HostsFound, at: string): SubTask {
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
  const description = `Already at ${host.version}: nothing to do.`;
  return { ...common, status: "NOT_APPLICABLE", reasonCode: "AT_TARGET", description, completionTimestamp: at };
}

/** Counts the hosts of a cluster's SubTask. */
export function countHosts({ subTasks = [] }: SubTask): HostCounts {
  const asked = subTasks.filter((host) => !isLeftOut(host));
  const leftOut = subTasks.length - asked.length;
  return { ...countParts(asked), ...(leftOut > 0 && { leftOut }) };
}

/** What is known from outside of a host whose Activity is pending. */
export interface HostActivity extends PendingAttempt<HostAttempt> {
  readonly host: string;
}

/** Grafts what a pending Activity says onto its host: stages, the attempt, its last error, the time of the next one. */
export function applyHostActivity(subTask: SubTask, activity: HostActivity): SubTask {
  const { host: id, progress } = activity;
  return withHost(subTask, id, "IN_PROGRESS", (host) => ({
    ...host,
    ...attemptFields(activity, progress?.percent),
    ...(progress && { stages: [...progress.stages] }),
  }));
}

/** A host of a cluster that has ended: what never began does not apply any more, what was under way was interrupted. */
function endHost(host: SubTask, at: string): SubTask {
  if (host.status === "PENDING") {
    const { stages: _neverBegun, ...rest } = host;
    const description = "Not begun.";
    return { ...rest, status: "NOT_APPLICABLE", reasonCode: "NOT_STARTED", description, completionTimestamp: at };
  }
  if (host.status !== "IN_PROGRESS") return host;
  const error = interrupted(`Host ${host.name}`);
  return {
    ...host,
    status: "FAILED",
    description: host.hostState ? withState(error.message, host.hostState) : error.message,
    completionTimestamp: at,
    stages: endStages(host.stages ?? [], at, error),
    errors: [error],
  };
}

/** What was last told of a host is old: it may have been begun, and even upgraded, since then. */
function loseHost(host: SubTask, at: string, errors?: ErrorBody[]): SubTask {
  if (hasEndedPart(host)) return host;
  const ended = { description: "State unknown: the Workflow of its cluster ended before it could report it." };
  if (host.status === "PENDING") {
    const { reasonCode: _unknown, ...rest } = endHost(host, at);
    return { ...rest, ...ended };
  }
  const stages = endStages(host.stages ?? [], at, errors?.[0]);
  return { ...host, ...ended, status: "FAILED", completionTimestamp: at, stages, ...(errors && { errors }) };
}

/** A host changed, where it is in the status from which the change happens. */
function withHost(subTask: SubTask, id: string, from: SubTaskStatus, change: (host: SubTask) => SubTask): SubTask {
  const applies = (host: SubTask) => host.resources?.[0]?.resourceId === id && host.status === from;
  return subTask.subTasks
    ? { ...subTask, subTasks: subTask.subTasks.map((host) => (applies(host) ? change(host) : host)) }
    : subTask;
}
