import type { ErrorBody } from "./error-body";
import { countParts, type HostCounts } from "./host-counts";
import { componentSubTask, componentSubTaskType, nodeReported } from "./netvirt-parts";
import { netvirtComponentNames, type NetvirtComponent, type NetvirtNodeState } from "./netvirt-upgrade";
import type { NetvirtComponentType, NetvirtProgress } from "./netvirt-upgrade";
import { withPause } from "./paused-part";
import { attemptFields, lastErrorOf, type PendingAttempt } from "./pending-attempt";
import {
  endResource,
  hasEndedPart,
  interrupted,
  mergeEnded,
  resultSubTask,
  type ResourceOutcome,
} from "./resource-end";
import { applyStageProgress, stagesOf, type StageProgress } from "./resource-stages";
import type { SubTask, SubTaskStatus } from "./task";
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
  | StageProgress<NetvirtStageType>
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
  | { readonly type: "Ended"; readonly outcome: ResourceOutcome; readonly error?: ErrorBody }
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
    resources: [
      {
        resourceId: netvirt.resourceId,
        name: netvirt.name,
        type: "NETVIRT_MANAGER",
        ...(netvirt.fqdn !== undefined && { fqdn: netvirt.fqdn }),
        ...(netvirt.sans && { sans: [...netvirt.sans] }),
      },
    ],
  };
}

/** The next state of a NETVIRT instance's SubTask. Pure; what cannot happen in a state leaves it as it is. */
export function applyNetvirtProgress(subTask: SubTask, happening: NetvirtHappening): SubTask {
  const { at } = happening;
  if (hasEndedPart(subTask)) return subTask;
  switch (happening.type) {
    case "StageStarted":
    case "StageSucceeded":
    case "StageFailed":
      return applyStageProgress(subTask, happening, at);
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
      return endResource(subTask, happening, at, (part) => endPart(part, at));
  }
}

/** What the upgrade itself keeps of a NETVIRT instance that has ended: how it went, without its components. */
export function netvirtResultSubTask(
  netvirt: NetvirtUpgradePlan,
  { hosts, ...ending }: { outcome: ResourceOutcome; hosts: HostCounts; error?: ErrorBody },
  created: string,
  at: string,
): SubTask {
  const description = `${hosts.upgraded + hosts.skipped} of ${hosts.total} nodes at ${netvirt.targetVersion}, ${hosts.failed} failed, ${hosts.left} not begun or left out.`;
  return resultSubTask(initialNetvirtSubTask(netvirt, created), ending, { description, at });
}

/** What is known from outside of a component whose Activity is pending. */
export interface NetvirtActivity extends PendingAttempt<NetvirtProgress> {
  readonly component: NetvirtComponentType;
}

/** Grafts what a pending Activity says onto its component: its groups and nodes, the attempt, its last error. */
export function applyNetvirtActivity(subTask: SubTask, activity: NetvirtActivity): SubTask {
  const { component: type, progress } = activity;
  const lastError = lastErrorOf(activity);
  const percent = progress && progress.percent > 0 ? Math.floor(progress.percent) : undefined;
  return withComponent(subTask, type, "IN_PROGRESS", (component) => ({
    ...withNodes(component, progress?.nodes ?? []),
    ...attemptFields(activity, percent),
    ...(lastError && { errors: [lastError] }),
  }));
}

/** A NETVIRT instance as its upgrade and its own Workflow together show it; see {@link mergeEnded}. */
export function mergeNetvirt(known: SubTask, own: SubTask): SubTask {
  return mergeEnded(known, own, (part, at) => endPart(part, at));
}

/** Counts the nodes of a NETVIRT instance's SubTask; one that needed nothing is `skipped`, one left out is `left`. */
export function countNodes(subTask: SubTask): HostCounts {
  return countParts(nodesOf(subTask));
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
    if (hasEndedPart(part) && part.status !== "FAILED") return part;
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

/** What never began does not apply any more; what was under way fails, with its parts. */
function endPart(part: SubTask, at: string, cause?: ErrorBody): SubTask {
  const subTasks = part.subTasks?.map((inner) => endPart(inner, at, cause));
  if (part.status === "PENDING") {
    return {
      ...part,
      status: "NOT_APPLICABLE",
      reasonCode: "NOT_STARTED",
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
