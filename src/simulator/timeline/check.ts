import { effectivePolicy, enforcesHardwareCompatibility } from "../state/remediation-policy";
import type { CheckSnapshot, ClusterState, HostState, TaskState } from "../state/simulator-state";
import type { World } from "../state/world";
import { evacuationRisk, hardwareProblem } from "./obstacles";
import { imageRefusal } from "./scan";

/** What the product's own health check finds on the hosts that it was asked for: what stops a remediation, what may. */
export function checkCluster(world: World, cluster: ClusterState, task: TaskState, at: number): CheckSnapshot {
  const policy = effectivePolicy(world.state.global.defaultPolicy, cluster.policy);
  const issues: Record<string, string[]> = {};
  const warnings: Record<string, string[]> = {};
  for (const host of cluster.hosts.filter(({ id }) => task.hosts?.includes(id) ?? true)) {
    const hardware = hardwareProblem(world, cluster, host);
    const isError = enforcesHardwareCompatibility(policy);
    const risk = evacuationRisk(world, cluster, host, policy);
    issues[host.id] = [...hostIssues(world, cluster, host, at), ...(hardware && isError ? [hardware] : [])];
    const warned = [...(hardware && !isError ? [hardware] : []), ...(risk === undefined ? [] : [risk])];
    if (warned.length > 0) warnings[host.id] = warned;
  }
  return {
    startedAt: task.createdAt,
    endedAt: at,
    commit: task.commit ?? "",
    issues,
    ...(Object.keys(warnings).length > 0 && { warnings }),
  };
}

function hostIssues(world: World, cluster: ClusterState, host: HostState, at: number): string[] {
  if (host.connection !== "CONNECTED") return [`Host ${host.name} is not connected.`];
  const fault = world.findFault(["CHECK_FAILS"], { cluster: cluster.id, host: host.id }, at);
  if (fault) world.useFault(fault);
  const refused = world.findFault(["IMAGE_REFUSED"], { cluster: cluster.id, host: host.id }, at);
  return [
    ...(fault ? [fault.issue ?? `Host ${host.name} is not ready to be remediated.`] : []),
    ...(refused ? [imageRefusal(refused.message, host)] : []),
  ];
}
