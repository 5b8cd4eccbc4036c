import type { ErrorBody } from "../errors";
import type { Closed } from "../opening";
import type { NetvirtUpgradePlan } from "../plan/upgrade-plan";
import type { SubTask, SubTaskStatus } from "../spec/task";
import { type CheckProgress, withCheck } from "./check-stages";
import {
  type NetvirtComponent,
  netvirtComponentNames,
  type NetvirtComponentType,
  type NetvirtGroup,
  type NetvirtNode,
  type NetvirtNodeState,
  type NetvirtProgress,
} from "./netvirt-upgrade";
import {
  applyStageProgress,
  attemptFields,
  type PendingAttempt,
  type StageLeft,
  type StageProgress,
  stagesOf,
} from "./resource-stages";
import {
  countParts,
  endResource,
  hasEndedPart,
  type HostCounts,
  interrupted,
  mergeEnded,
  type ResourceOutcome,
  resultSubTask,
  serverResource,
  withClosure,
  withPause,
} from "./sub-task";

/** The stages of a NETVIRT instance in their order; the `type` of each Stage. */
export const netvirtStages = {
  READ_UPGRADE: "Read the upgrade coordinator",
  PUT_SETTINGS: "Set the plan of the upgrade coordinator",
  UPGRADE_COMPONENTS: "Upgrade components",
  RESTORE_SETTINGS: "Restore the plan of the upgrade coordinator",
} as const;
export type NetvirtStageType = keyof typeof netvirtStages;

/** What happens to a NETVIRT instance while it is upgraded, each with its time as a Timestamp. */
export type NetvirtEvent = { readonly at: string } & (
  | StageProgress<NetvirtStageType>
  | StageLeft<NetvirtStageType>
  | CheckProgress
  | { readonly type: "ComponentsRead"; readonly components: readonly NetvirtComponent[] }
  /** The upgrade is paused, or resumed. */
  | { readonly type: "PauseChanged"; readonly paused: boolean }
  /** A freeze keeps it from beginning what comes next, for which the message is why; none where it was lifted. */
  | { readonly type: "ClosureChanged"; readonly closed?: Closed }
  /** `ComponentPutBack`: a freeze has kept it from beginning, or from going on with its next hosts. */
  | {
      readonly type: "ComponentStarted" | "ComponentPutBack" | "ComponentSucceeded";
      readonly component: NetvirtComponentType;
    }
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
    resources: [serverResource("NETVIRT_MANAGER", netvirt)],
  };
}

/** The next state of a NETVIRT instance's SubTask. Pure; what cannot happen in a state leaves it as it is. */
export function applyNetvirtProgress(subTask: SubTask, event: NetvirtEvent): SubTask {
  const { at } = event;
  if (hasEndedPart(subTask)) return subTask;
  switch (event.type) {
    case "StageStarted":
    case "StageSucceeded":
    case "StageLeft":
    case "StageFailed":
      return applyStageProgress(subTask, event, at);
    case "ComponentsRead":
      if (subTask.subTasks) return subTask;
      return { ...subTask, subTasks: event.components.map((component) => componentSubTask(component, at)) };
    case "PauseChanged":
      return withPause(subTask, event.paused);
    case "CheckAsked":
    case "CheckAnswered":
      return withCheck(subTask, event, at);
    case "ClosureChanged":
      return withClosure(subTask, event.closed);
    case "ComponentPutBack":
      return withComponent(subTask, event.component, "IN_PROGRESS", (component) => ({
        ...component,
        status: "PENDING",
      }));
    case "ComponentStarted":
      return withComponent(withClosure(subTask, undefined), event.component, "PENDING", (component) => ({
        ...component,
        status: "IN_PROGRESS",
      }));
    case "ComponentSucceeded":
      return withComponent(subTask, event.component, "IN_PROGRESS", (component) => succeed(component, at));
    case "ComponentFailed":
      return withComponent(subTask, event.component, "IN_PROGRESS", (component) =>
        fail(withNodes(component, event.nodes ?? [], at), at, event.error),
      );
    case "Ended":
      return endResource(subTask, event, at, (part) => endPart(part, at));
  }
}

/** What the upgrade itself keeps of a NETVIRT instance that has ended: how it went, without its components. */
export function netvirtResultSubTask(
  netvirt: NetvirtUpgradePlan,
  { hosts, ...ending }: { outcome: ResourceOutcome; hosts: HostCounts; error?: ErrorBody },
  created: string,
  at: string,
): SubTask {
  const description = `${hosts.upgraded + hosts.skipped} of ${hosts.total} nodes at ${netvirt.targetVersion}, ${hosts.failed} failed, ${hosts.left} not started or left out.`;
  return resultSubTask(initialNetvirtSubTask(netvirt, created), ending, { description, at });
}

/** What is known from outside of a component whose Activity is pending. */
export interface NetvirtActivity extends PendingAttempt<NetvirtProgress> {
  readonly component: NetvirtComponentType;
}

/** Grafts what a pending Activity says onto its component: its groups and nodes, the attempt, its last error. */
export function applyNetvirtActivity(subTask: SubTask, activity: NetvirtActivity): SubTask {
  const { component: type, progress } = activity;
  const percent = progress && progress.percent > 0 ? Math.floor(progress.percent) : undefined;
  return withComponent(subTask, type, "IN_PROGRESS", (component) => ({
    ...withNodes(component, progress?.nodes ?? []),
    ...attemptFields(activity, percent),
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

/** The `type` of a component's SubTask. */
function componentSubTaskType(type: NetvirtComponentType): string {
  return type === "FINALIZE_UPGRADE" ? "NETVIRT_FINALIZE_UPGRADE" : `NETVIRT_${type}_UPGRADE`;
}

/** The SubTask of a component with its groups and nodes, as they stand before it is upgraded. */
function componentSubTask({ type, state, groups }: NetvirtComponent, at: string): SubTask {
  const common = {
    name: `Upgrade ${netvirtComponentNames[type]}`,
    type: componentSubTaskType(type),
    creationTimestamp: at,
    ...(groups.length > 0 && { subTasks: groups.map((group) => groupSubTask(group, state, at)) }),
  };
  if (state === "TO_DO") return { ...common, status: "PENDING", description: "Waiting for its turn." };
  const description =
    state === "AT_TARGET"
      ? "Already at the target: nothing to do."
      : type === "FINALIZE_UPGRADE"
        ? "Skipped: this upgrade does not bring every node to the target."
        : leftOut;
  const reasonCode = state === "AT_TARGET" ? "AT_TARGET" : "NOT_IN_SCOPE";
  return { ...common, status: "NOT_APPLICABLE", reasonCode, description, completionTimestamp: at };
}

/**
 * A group whose nodes are as reported; those that are not reported, and those that need nothing, stay as they are.
 * `at`: when what has ended did so, where that is known.
 */
function nodeReported(group: SubTask, reported: ReadonlyMap<string, NetvirtNodeState>, at?: string): SubTask {
  if (group.status === "NOT_APPLICABLE") return group;
  const nodes = (group.subTasks ?? []).map((node) => {
    const state = reported.get(node.resources?.[0]?.resourceId ?? "");
    return state && node.status !== "NOT_APPLICABLE" ? withState(node, state, at) : node;
  });
  const { completionTimestamp: _before, ...rest } = group;
  const status = statusOfNodes(nodes);
  const done = nodes.filter((node) => node.status === "SUCCESSFUL" || node.status === "NOT_APPLICABLE").length;
  return {
    ...rest,
    status,
    subTasks: nodes,
    ...(status !== "PENDING" && { description: `${done} of ${nodes.length} nodes done.` }),
    ...((status === "SUCCESSFUL" || status === "FAILED") && completed(at)),
  };
}

const leftOut = "Skipped: not in the request.";

function groupSubTask(group: NetvirtGroup, state: NetvirtComponent["state"], at: string): SubTask {
  const { id, name, included, nodeCount, nodes } = group;
  const common = {
    name,
    type: "NETVIRT_GROUP_UPGRADE",
    creationTimestamp: at,
    resources: [{ resourceId: id, name }],
  };
  if (!included)
    return {
      ...common,
      status: "NOT_APPLICABLE",
      reasonCode: "NOT_IN_SCOPE",
      description: leftOut,
      completionTimestamp: at,
    };
  const subTasks = nodes.map((node) => nodeSubTask(node, state, at));
  const hidden = nodeCount - nodes.length;
  const listed = hidden > 0 ? `${nodeCount} nodes, of which ${hidden} are not listed.` : `${nodeCount} nodes.`;
  const toDo = state === "TO_DO" && (hidden > 0 || subTasks.some((node) => node.status === "PENDING"));
  if (toDo) return { ...common, status: "PENDING", description: listed, subTasks };
  const description = `Already at the target: ${listed}`;
  const ended = { status: "NOT_APPLICABLE", reasonCode: "AT_TARGET", completionTimestamp: at } as const;
  return { ...common, ...ended, description, subTasks };
}

function nodeSubTask(
  { id, name, version, status }: NetvirtNode,
  state: NetvirtComponent["state"],
  at: string,
): SubTask {
  const common = {
    name,
    type: "NETVIRT_NODE_UPGRADE",
    creationTimestamp: at,
    resources: [{ resourceId: id, name, fqdn: name }],
  };
  const runs = version || "an unknown version";
  if (state === "TO_DO" && status !== "SUCCESS") {
    return { ...common, status: "PENDING", description: `Waiting for its turn; runs ${runs}.` };
  }
  const description = `Already at ${runs}: nothing to do.`;
  return { ...common, status: "NOT_APPLICABLE", reasonCode: "AT_TARGET", description, completionTimestamp: at };
}

function withState(node: SubTask, { status, percent, error }: NetvirtNodeState, at?: string): SubTask {
  const { completionTimestamp: _before, errors: _earlier, ...rest } = node;
  switch (status) {
    case "NOT_STARTED":
      return { ...rest, status: "PENDING" };
    case "IN_PROGRESS":
      return { ...rest, status: "IN_PROGRESS", description: `${Math.floor(percent)} %.` };
    case "SUCCESS":
      return { ...rest, status: "SUCCESSFUL", description: "Upgraded.", ...completed(at) };
    case "FAILED": {
      const failed = nodeError(node.name, error);
      return { ...rest, status: "FAILED", description: failed.message, ...completed(at), errors: [failed] };
    }
  }
}

function completed(at: string | undefined): { completionTimestamp?: string } {
  return at === undefined ? {} : { completionTimestamp: at };
}

function nodeError(name: string, error: string | undefined): ErrorBody {
  return {
    errorCode: "NETVIRT_NODE_FAILED",
    errorType: "UPGRADE",
    message: error === undefined ? `${name} failed.` : `${name} failed: ${error}`,
    remediationMessage:
      "Resolve what the upgrade coordinator reports for the node, take it out of NETVIRT maintenance mode, then retry.",
    context: { node: name },
  };
}

function statusOfNodes(nodes: readonly SubTask[]): SubTaskStatus {
  const has = (status: SubTaskStatus) => nodes.some((node) => node.status === status);
  if (has("IN_PROGRESS")) return "IN_PROGRESS";
  if (has("PENDING")) return has("SUCCESSFUL") || has("FAILED") ? "IN_PROGRESS" : "PENDING";
  return has("FAILED") ? "FAILED" : "SUCCESSFUL";
}
