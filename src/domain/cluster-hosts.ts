import type { ErrorBody } from "./error-body";
import { countParts, type HostCounts } from "./host-counts";
import { baselineHostStages, hostStages, type ClusterHost, type HostAttempt } from "./host-remediation";
import { attemptFields, lastErrorOf, type PendingAttempt } from "./pending-attempt";
import { hasEndedPart, interrupted } from "./resource-end";
import { endStages, stagesOf } from "./resource-stages";
import type { SubTask, SubTaskStatus } from "./task";
import type { ClusterKind } from "./upgrade-plan";

/** The hosts of a cluster as they were read before anything of them was changed. */
export interface HostsFound {
  readonly hosts: readonly ClusterHost[];
  /** Ids of hosts that an earlier attempt of this upgrade has upgraded. */
  readonly upgradedBefore: readonly string[];
  /** IMAGE where absent. */
  readonly kind?: ClusterKind;
}

/** The SubTask of a host before its turn. */
export function initialHostSubTask(host: ClusterHost, { upgradedBefore, kind }: HostsFound, at: string): SubTask {
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
  return countParts(subTasks);
}

/** What is known from outside of a host whose Activity is pending. */
export interface HostActivity extends PendingAttempt<HostAttempt> {
  readonly host: string;
}

/** Grafts what a pending Activity says onto its host: stages, the attempt, its last error, the time of the next one. */
export function applyHostActivity(subTask: SubTask, activity: HostActivity): SubTask {
  const { host: id, progress } = activity;
  const lastError = lastErrorOf(activity);
  return withHost(subTask, id, "IN_PROGRESS", (host) => ({
    ...host,
    ...attemptFields(activity, progress?.percent),
    ...(progress && { stages: [...progress.stages] }),
    ...(lastError && { errors: [lastError] }),
  }));
}

/** A host of a cluster that has ended: what never began does not apply any more, what was under way was interrupted. */
export function endHost(host: SubTask, at: string): SubTask {
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
    description: error.message,
    completionTimestamp: at,
    stages: endStages(host.stages ?? [], at, error),
    errors: [error],
  };
}

/** What was last told of a host is old: it may have been begun, and even upgraded, since then. */
export function loseHost(host: SubTask, at: string, errors?: ErrorBody[]): SubTask {
  if (hasEndedPart(host)) return host;
  const ended = { description: "In an unknown state: the Workflow of its cluster ended before it could tell." };
  if (host.status === "PENDING") {
    const { reasonCode: _unknown, ...rest } = endHost(host, at);
    return { ...rest, ...ended };
  }
  const stages = endStages(host.stages ?? [], at, errors?.[0]);
  return { ...host, ...ended, status: "FAILED", completionTimestamp: at, stages, ...(errors && { errors }) };
}

/** A host changed, where it is in the status from which the change happens. */
export function withHost(
  subTask: SubTask,
  id: string,
  from: SubTaskStatus,
  change: (host: SubTask) => SubTask,
): SubTask {
  const applies = (host: SubTask) => host.resources?.[0]?.resourceId === id && host.status === from;
  return subTask.subTasks
    ? { ...subTask, subTasks: subTask.subTasks.map((host) => (applies(host) ? change(host) : host)) }
    : subTask;
}
