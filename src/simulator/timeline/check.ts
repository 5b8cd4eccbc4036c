import type { SimulatorContext } from "../state/context";
import { effectivePolicy, enforcesHardwareCompatibility } from "../state/remediation-policy";
import type { CheckSnapshot, ClusterState, HostState, TaskState } from "../state/simulator-state";
import { evacuationRisk, hardwareProblem } from "./obstacles";
import { imageRefusal } from "./scan";

/** What the product's own health check finds on the hosts that it was asked for: what stops a remediation, what may. */
export function checkCluster(
  context: SimulatorContext,
  cluster: ClusterState,
  task: TaskState,
  at: number,
): CheckSnapshot {
  const policy = effectivePolicy(context.state.global.defaultPolicy, cluster.policy);
  const issues: Record<string, string[]> = {};
  const warnings: Record<string, string[]> = {};
  for (const host of cluster.hosts.filter(({ id }) => task.hosts?.includes(id) ?? true)) {
    const hardware = hardwareProblem(context, cluster, host);
    const isError = enforcesHardwareCompatibility(policy);
    const risk = evacuationRisk(context, cluster, host, policy);
    issues[host.id] = [...hostIssues(context, cluster, host, at), ...(hardware && isError ? [hardware] : [])];
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

function hostIssues(context: SimulatorContext, cluster: ClusterState, host: HostState, at: number): string[] {
  if (host.connection !== "CONNECTED") return [`Host ${host.name} is not connected.`];
  const fault = context.findFault(["CHECK_FAILS"], { cluster: cluster.id, host: host.id }, at);
  if (fault) context.useFault(fault);
  const refused = context.findFault(["IMAGE_REFUSED"], { cluster: cluster.id, host: host.id }, at);
  return [
    ...(fault ? [fault.issue ?? `Host ${host.name} is not ready to be remediated.`] : []),
    ...(refused ? [imageRefusal(refused.message, host)] : []),
  ];
}
