import type { ErrorBody } from "./error-body";
import {
  netvirtComponentNames,
  type NetvirtComponent,
  type NetvirtComponentType,
  type NetvirtGroup,
  type NetvirtNode,
  type NetvirtNodeState,
} from "./netvirt-upgrade";
import type { SubTask, SubTaskStatus } from "./task";

/** The `type` of a component's SubTask. */
export function componentSubTaskType(type: NetvirtComponentType): string {
  return type === "FINALIZE_UPGRADE" ? "NETVIRT_FINALIZE_UPGRADE" : `NETVIRT_${type}_UPGRADE`;
}

/** The SubTask of a component with its groups and nodes, as they stand before it is upgraded. */
export function componentSubTask({ type, state, groups }: NetvirtComponent, at: string): SubTask {
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
        ? "Left out: not every node is at the target after this upgrade."
        : leftOut;
  const reasonCode = state === "AT_TARGET" ? "AT_TARGET" : "NOT_IN_SCOPE";
  return { ...common, status: "NOT_APPLICABLE", reasonCode, description, completionTimestamp: at };
}

/**
 * A group whose nodes are as reported; those that are not reported, and those that need nothing, stay as they are.
 * `at`: when what has ended did so, where that is known.
 */
export function nodeReported(group: SubTask, reported: ReadonlyMap<string, NetvirtNodeState>, at?: string): SubTask {
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

const leftOut = "Left out: the request does not name it.";

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
