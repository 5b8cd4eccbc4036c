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
    const found = hostIssues(context, cluster, host, at);
    issues[host.id] = [...found.issues, ...(hardware && isError ? [hardware] : [])];
    const warned = [
      ...found.warnings,
      ...(hardware && !isError ? [hardware] : []),
      ...(risk === undefined ? [] : [risk]),
    ];
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

interface HostIssues {
  readonly issues: readonly string[];
  readonly warnings: readonly string[];
}

function hostIssues(context: SimulatorContext, cluster: ClusterState, host: HostState, at: number): HostIssues {
  if (host.connection !== "CONNECTED") return { issues: [`Host ${host.name} is not connected.`], warnings: [] };
  const fault = context.findFault(["CHECK_FAILS"], { cluster: cluster.id, host: host.id }, at);
  if (fault) context.useFault(fault);
  const refused = context.findFault(["IMAGE_REFUSED"], { cluster: cluster.id, host: host.id }, at);
  const failing = fault ? [fault.issue ?? `Host ${host.name} is not ready to be remediated.`] : [];
  const refusals = refused ? [imageRefusal(refused.message, host)] : [];
  return fault?.warning === true
    ? { issues: refusals, warnings: failing }
    : { issues: [...failing, ...refusals], warnings: [] };
}
