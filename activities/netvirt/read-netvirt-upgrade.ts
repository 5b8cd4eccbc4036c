import {
  maximumListedNodes,
  type NetvirtComponent,
  netvirtComponentOrder,
  type NetvirtComponentType,
  type NetvirtGroup,
  type NetvirtNode,
  type NetvirtNodeState,
} from "../../src/domain/task/netvirt-upgrade";
import { compareVersions } from "../../src/domain/version";
import type { NetvirtSettings, NetvirtTarget, NetvirtUpgrade } from "../contract";
import { bounded } from "../drivers/driver-error";
import type { NsxClient } from "../drivers/nsx/nsx-client";
import type { UnitGroup, UnitStatus } from "../drivers/nsx/nsx-models";
import type { RetryPolicy } from "../retry-policy";
import { isIncluded, nameOf, previousGroup } from "./netvirt-settings";

/** Reads all that an upgrade of an instance works on, in the order in which it does. */
export async function readNetvirtUpgrade(
  client: NsxClient,
  retryPolicy: RetryPolicy,
  target: NetvirtTarget,
): Promise<NetvirtUpgrade> {
  const { targetVersion, options } = target;
  const summary = await retryPolicy.retry(() => client.readSummary());
  const { component_status } = await retryPolicy.retry(() => client.readStatus());
  // Where the coordinator is there for another version, what it says of its own upgrade is not about ours.
  const planned = isVersion(summary.target_version, targetVersion);

  const plan: Record<string, NetvirtSettings["plan"][string]> = {};
  const previous: NetvirtSettings["groups"][number][] = [];
  const components: NetvirtComponent[] = [];
  let listed = 0;
  for (const type of netvirtComponentOrder(targetVersion, options.edgeOnly)) {
    const reported = component_status.find(({ component_type }) => component_type === type);
    const groups: NetvirtGroup[] = [];
    for (const group of await listGroups(client, retryPolicy, type)) {
      const statuses = await retryPolicy.retry(() => client.listUnitStatuses(group.id));
      const read = groupOf(type, group, statuses, target, planned);
      groups.push({ ...read, nodes: read.nodes.slice(0, maximumListedNodes - listed) });
      listed += groups.at(-1)?.nodes.length ?? 0;
      if (type === "EDGE" || type === "HOST") previous.push(previousGroup(group));
    }
    if (type === "EDGE" || type === "HOST") plan[type] = await retryPolicy.retry(() => client.readSettings(type));
    const done = planned ? reported?.status === "SUCCESS" : isVersion(summary.system_version, targetVersion);
    components.push({ type, groups, state: stateOf(type, groups, done, components) });
  }
  return { components, previous: { plan, groups: previous } };
}

/** The groups of a component; the finalization has none. */
export function listGroups(
  client: NsxClient,
  retryPolicy: RetryPolicy,
  component: NetvirtComponentType,
): Promise<readonly UnitGroup[]> {
  if (component === "FINALIZE_UPGRADE") return Promise.resolve([]);
  return retryPolicy.retry(() => client.listGroups(component));
}

/** Whether a version that may not be known is this one. */
export function isVersion(version: string | undefined, target: string): boolean {
  return version !== undefined && version !== "" && compareVersions(version, target) === 0;
}

function groupOf(
  component: NetvirtComponentType,
  group: UnitGroup,
  statuses: readonly UnitStatus[],
  { targetVersion, options }: NetvirtTarget,
  planned: boolean,
): NetvirtGroup {
  const units = group.upgrade_units ?? [];
  const nodes = units.map((unit): NetvirtNode => {
    const reported = statuses.find(({ id }) => id === unit.id);
    const state = planned && reported ? nodeStateOf(reported) : ({ status: "NOT_STARTED", percent: 0 } as const);
    const atTarget = isVersion(unit.current_version, targetVersion);
    return {
      ...state,
      ...(atTarget && { status: "SUCCESS", percent: 100 }),
      id: unit.id,
      name: nameOf(unit),
      version: unit.current_version ?? "",
    };
  });
  return {
    id: group.id,
    name: nameOf(group),
    included: isIncluded(component, group, options),
    nodeCount: Math.max(group.upgrade_unit_count ?? 0, nodes.length),
    nodes,
  };
}

/** `done`: what the coordinator says of the component as a whole; `before`: the components that come earlier. */
function stateOf(
  type: NetvirtComponentType,
  groups: readonly NetvirtGroup[],
  done: boolean,
  before: readonly NetvirtComponent[],
): NetvirtComponent["state"] {
  if (type === "FINALIZE_UPGRADE") {
    if (done) return "AT_TARGET";
    // The coordinator finalizes only when nothing is left behind.
    return before.some(leavesSomething) ? "LEFT_OUT" : "TO_DO";
  }
  if (groups.length === 0) return done || type !== "MP" ? "AT_TARGET" : "TO_DO";
  if (!groups.some(({ included }) => included)) return "LEFT_OUT";
  return groups.some((group) => group.included && isToDo(group)) ? "TO_DO" : "AT_TARGET";
}

function isToDo({ nodes, nodeCount }: NetvirtGroup): boolean {
  return nodes.some(({ status }) => status !== "SUCCESS") || nodes.length < nodeCount;
}

function leavesSomething({ state, groups }: NetvirtComponent): boolean {
  return state === "LEFT_OUT" || groups.some((group) => !group.included && isToDo(group));
}

/** One node as the coordinator reports it; a status that is not known counts as in work. */
export function nodeStateOf({
  id,
  status = "NOT_STARTED",
  percent_complete = 0,
  errors = [],
}: UnitStatus): NetvirtNodeState {
  const percent = Math.min(100, Math.max(0, percent_complete));
  const told = errors.filter((error) => error !== "").join(" ");
  switch (status) {
    case "SUCCESS":
      return { id, status, percent: 100 };
    case "FAILED":
      return { id, status, percent, ...(told !== "" && { error: bounded(told, 200) }) };
    // A paused unit has not begun, or has been brought to a safe point; it goes on when the component does.
    case "NOT_STARTED":
    case "PAUSED":
      return { id, status: "NOT_STARTED", percent };
    default:
      return { id, status: "IN_PROGRESS", percent };
  }
}
