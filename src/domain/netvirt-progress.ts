import { endStages, interrupted, stagesOf, type ClusterOutcome, type HostCounts } from "./cluster-progress";
import type { ErrorBody } from "./error-body";
import { componentSubTask, componentSubTaskType, nodeReported } from "./netvirt-parts";
import { netvirtComponentNames, type NetvirtComponent, type NetvirtNodeState } from "./netvirt-upgrade";
import type { NetvirtComponentType, NetvirtProgress } from "./netvirt-upgrade";
import { withPause } from "./paused-part";
import type { Stage, StageStatus, SubTask, SubTaskStatus } from "./task";
import type { NetvirtUpgradePlan } from "./upgrade-plan";

/** The stages of a NETVIRT instance in their order; the `type` of each Stage. */
export const netvirtStages = {
  READ_UPGRADE: "Read the upgrade coordinator",
  PUT_SETTINGS: "Set the plan of the upgrade coordinator",
  UPGRADE_COMPONENTS: "Upgrade components",
  RESTORE_SETTINGS: "Restore the plan of the upgrade coordinator",
} as const;
export type NetvirtStageType = keyof typeof netvirtStages;

/** What happens to a NETVIRT instance while it is upgraded, each with its time as a Timestamp. */
export type NetvirtHappening = { readonly at: string } & (
  | { readonly type: "StageStarted" | "StageSucceeded"; readonly stage: NetvirtStageType }
  | { readonly type: "StageFailed"; readonly stage: NetvirtStageType; readonly error: ErrorBody }
  | { readonly type: "ComponentsRead"; readonly components: readonly NetvirtComponent[] }
  /** The upgrade is paused, or resumed. */
  | { readonly type: "PauseChanged"; readonly paused: boolean }
  | { readonly type: "ComponentStarted" | "ComponentSucceeded"; readonly component: NetvirtComponentType }
  | {
      readonly type: "ComponentFailed";
      readonly component: NetvirtComponentType;
      readonly error: ErrorBody;
      /** How its nodes stand now, where that is known. */
      readonly nodes?: readonly NetvirtNodeState[];
    }
  | { readonly type: "Ended"; readonly outcome: ClusterOutcome; readonly error?: ErrorBody }
);

/** The SubTask of a NETVIRT instance before anything of it has happened. */
export function initialNetvirtSubTask(netvirt: NetvirtUpgradePlan, at: string): SubTask {
  return {
    name: `Upgrade NETVIRT ${netvirt.name}`,
    type: "NETVIRT_INSTANCE_UPGRADE",
    description: `Upgrade ${netvirt.options.edgeOnly ? "the edge clusters" : "managers, edge and host clusters"} of ${netvirt.name} to ${netvirt.targetVersion}.`,
    status: "PENDING",
    creationTimestamp: at,
    stages: stagesOf(netvirtStages, at),
    resources: [{ resourceId: netvirt.resourceId, name: netvirt.name, type: "NETVIRT_MANAGER" }],
  };
}

/** The next state of a NETVIRT instance's SubTask. Pure; what cannot happen in a state leaves it as it is. */
export function applyNetvirtProgress(subTask: SubTask, happening: NetvirtHappening): SubTask {
  const { at } = happening;
  if (hasEnded(subTask)) return subTask;
  switch (happening.type) {
    case "StageStarted": {
      const started = withStage(subTask, happening.stage, "PENDING", (stage) => ({ ...stage, status: "IN_PROGRESS" }));
      return { ...started, status: "IN_PROGRESS" };
    }
    case "StageSucceeded":
      return withStage(subTask, happening.stage, "IN_PROGRESS", (stage) => ({
        ...stage,
        status: "SUCCESSFUL",
        completionTimestamp: at,
      }));
    case "StageFailed":
      return withStage(subTask, happening.stage, "IN_PROGRESS", (stage) => ({
        ...stage,
        status: "FAILED",
        completionTimestamp: at,
        errors: [happening.error],
      }));
    case "ComponentsRead":
      if (subTask.subTasks) return subTask;
      return { ...subTask, subTasks: happening.components.map((component) => componentSubTask(component, at)) };
    case "PauseChanged":
      return withPause(subTask, happening.paused);
    case "ComponentStarted":
      return withComponent(subTask, happening.component, "PENDING", (component) => ({
        ...component,
        status: "IN_PROGRESS",
      }));
    case "ComponentSucceeded":
      return withComponent(subTask, happening.component, "IN_PROGRESS", (component) => succeed(component, at));
    case "ComponentFailed":
      return withComponent(subTask, happening.component, "IN_PROGRESS", (component) =>
        fail(withNodes(component, happening.nodes ?? [], at), at, happening.error),
      );
    case "Ended":
      return endInstance(withPause(subTask, false), happening.outcome, at, happening.error);
  }
}

/** What the upgrade itself keeps of a NETVIRT instance that has ended: how it went, without its components. */
export function netvirtResultSubTask(
  netvirt: NetvirtUpgradePlan,
  { outcome, hosts, error }: { outcome: ClusterOutcome; hosts: HostCounts; error?: ErrorBody },
  created: string,
  at: string,
): SubTask {
  const { stages: _ofItsOwnWorkflow, ...subTask } = initialNetvirtSubTask(netvirt, created);
  return {
    ...subTask,
    status: endStatuses[outcome],
    description: `${hosts.upgraded + hosts.skipped} of ${hosts.total} nodes at ${netvirt.targetVersion}, ${hosts.failed} failed, ${hosts.left} not begun or left out.`,
    completionTimestamp: at,
    ...(error && { errors: [error] }),
  };
}

/** What is known from outside of a component whose Activity is pending, between two events of its Workflow. */
export interface NetvirtActivity {
  readonly component: NetvirtComponentType;
  readonly progress?: NetvirtProgress;
  readonly lastError?: ErrorBody;
  /** When the server tries again; absent while an attempt runs. */
  readonly nextAttemptAt?: string;
  /** As its retry policy says; what an earlier run of the Activity has used up is only in its progress. */
  readonly maximumAttempts: number;
}

/** Grafts what a pending Activity says onto its component: its groups and nodes, the attempt, its last error. */
export function applyNetvirtActivity(subTask: SubTask, activity: NetvirtActivity): SubTask {
  const { progress, lastError = progress?.lastError, nextAttemptAt } = activity;
  const maximumAttempts = progress?.maximumAttempts ?? activity.maximumAttempts;
  const attempt = (progress?.reportedFailures ?? 0) + 1;
  const attempts = maximumAttempts > 1 ? ` (attempt ${attempt} of ${maximumAttempts})` : "";
  const percent = progress && progress.percent > 0 ? ` ${Math.floor(progress.percent)} %.` : "";
  const description =
    nextAttemptAt === undefined
      ? `${progress?.activity ?? "Waiting for a worker."}${percent}${attempts}`
      : `Attempt ${attempt} of ${maximumAttempts} starts at ${nextAttemptAt}, after: ${lastError?.message ?? "a failure"}`;
  return withComponent(subTask, activity.component, "IN_PROGRESS", (component) => ({
    ...withNodes(component, progress?.nodes ?? []),
    description,
    ...(lastError && { errors: [lastError] }),
  }));
}

/** A NETVIRT instance as its upgrade and its own Workflow together show it; see `mergeCluster`. */
export function mergeNetvirt(known: SubTask, own: SubTask): SubTask {
  if (!hasEnded(known) || hasEnded(own)) return own;
  const at = known.completionTimestamp ?? own.creationTimestamp;
  return {
    ...own,
    status: known.status,
    description: known.description,
    completionTimestamp: at,
    stages: endStages(own.stages ?? [], at, known.errors?.[0]),
    subTasks: (own.subTasks ?? []).map((part) => endPart(part, at)),
    ...(known.errors && { errors: known.errors }),
  };
}

/** Counts the nodes of a NETVIRT instance's SubTask; one that needed nothing is `skipped`, one left out is `left`. */
export function countNodes(subTask: SubTask): HostCounts {
  const nodes = nodesOf(subTask);
  const of = (...statuses: SubTaskStatus[]) => nodes.filter((node) => statuses.includes(node.status)).length;
  const skipped = nodes.filter((node) => node.status === "NOT_APPLICABLE" && isAlreadyThere(node)).length;
  return {
    total: nodes.length,
    upgraded: of("SUCCESSFUL"),
    skipped,
    failed: of("FAILED"),
    left: of("PENDING", "NOT_APPLICABLE") - skipped,
  };
}

/** The nodes of a NETVIRT instance: what has no parts of its own below a group. */
export function nodesOf(subTask: SubTask): readonly SubTask[] {
  return (subTask.subTasks ?? []).flatMap(({ subTasks: groups = [] }) =>
    groups.flatMap((group) => group.subTasks ?? []),
  );
}

/** The components that still have to be upgraded, in their order. */
export function waitingComponents(subTask: SubTask): readonly NetvirtComponentType[] {
  const types = Object.keys(netvirtComponentNames) as NetvirtComponentType[];
  return (subTask.subTasks ?? [])
    .filter(({ status }) => status === "PENDING")
    .flatMap((part) => types.find((type) => isComponent(part, type)) ?? []);
}

const endStatuses: Record<ClusterOutcome, SubTaskStatus> = {
  SUCCESSFUL: "SUCCESSFUL",
  WITHIN_TOLERANCE: "SUCCESSFUL",
  NOTHING_TO_DO: "NOT_APPLICABLE",
  FAILED: "FAILED",
  CANCELLED: "FAILED",
  NOT_BEGUN: "NOT_APPLICABLE",
};

function isAlreadyThere({ description }: SubTask): boolean {
  return description.startsWith("Already at");
}

function isComponent(part: SubTask, type: NetvirtComponentType): boolean {
  return part.type === componentSubTaskType(type);
}

/** Nodes as they are reported, and the groups that follow from them. */
function withNodes(component: SubTask, nodes: readonly NetvirtNodeState[], at?: string): SubTask {
  if (!component.subTasks || nodes.length === 0) return component;
  const reported = new Map(nodes.map((node) => [node.id, node]));
  return { ...component, subTasks: component.subTasks.map((group) => nodeReported(group, reported, at)) };
}

function succeed(component: SubTask, at: string): SubTask {
  const done = (part: SubTask): SubTask => {
    const subTasks = part.subTasks?.map(done);
    const { errors: _ofEarlierAttempts, ...rest } = part;
    if (hasEnded(part) && part.status !== "FAILED") return part;
    return {
      ...rest,
      status: "SUCCESSFUL",
      description: part.subTasks ? part.description : "Upgraded.",
      completionTimestamp: at,
      ...(subTasks && { subTasks }),
    };
  };
  return { ...done(component), description: "Upgraded." };
}

function fail(component: SubTask, at: string, error: ErrorBody): SubTask {
  return {
    ...component,
    status: "FAILED",
    description: error.message,
    completionTimestamp: at,
    errors: [error],
    ...(component.subTasks && { subTasks: component.subTasks.map((group) => endPart(group, at, error)) }),
  };
}

function endInstance(subTask: SubTask, outcome: ClusterOutcome, at: string, error?: ErrorBody): SubTask {
  const { stages = [], ...rest } = subTask;
  const ended = endStages(stages, at, error);
  const parts = subTask.subTasks?.map((part) => endPart(part, at));
  return {
    ...rest,
    status: endStatuses[outcome],
    completionTimestamp: at,
    ...(ended.length > 0 && { stages: ended }),
    ...(parts && { subTasks: parts }),
    ...(error && { errors: [error] }),
  };
}

/** What never began does not apply any more; what was under way fails, with its parts. */
function endPart(part: SubTask, at: string, cause?: ErrorBody): SubTask {
  const subTasks = part.subTasks?.map((inner) => endPart(inner, at, cause));
  if (part.status === "PENDING") {
    return {
      ...part,
      status: "NOT_APPLICABLE",
      description: "Not begun.",
      completionTimestamp: at,
      ...(subTasks && { subTasks }),
    };
  }
  if (part.status !== "IN_PROGRESS") return part;
  const error = cause ?? interrupted(part.name);
  return {
    ...part,
    status: "FAILED",
    description: error.message,
    completionTimestamp: at,
    errors: [error],
    ...(subTasks && { subTasks }),
  };
}

function hasEnded({ status }: SubTask): boolean {
  return status !== "PENDING" && status !== "IN_PROGRESS";
}

/** A stage changed, where it is in the status from which the change happens. */
function withStage(
  subTask: SubTask,
  type: NetvirtStageType,
  from: StageStatus,
  change: (stage: Stage) => Stage,
): SubTask {
  const applies = (stage: Stage) => stage.type === type && stage.status === from;
  return { ...subTask, stages: (subTask.stages ?? []).map((stage) => (applies(stage) ? change(stage) : stage)) };
}

/** A component changed, where it is in the status from which the change happens. */
function withComponent(
  subTask: SubTask,
  type: NetvirtComponentType,
  from: SubTaskStatus,
  change: (component: SubTask) => SubTask,
): SubTask {
  if (!subTask.subTasks) return subTask;
  const applies = (part: SubTask) => isComponent(part, type) && part.status === from;
  return { ...subTask, subTasks: subTask.subTasks.map((part) => (applies(part) ? change(part) : part)) };
}
