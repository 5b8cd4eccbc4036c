import type { SimulatorContext } from "../state/context";
import { effectivePolicy } from "../state/remediation-policy";
import type { ClusterState, HostState } from "../state/simulator-state";
import { bringBack, describeEvacuation, evacuate } from "./evacuation";
import { maintenanceObstacle } from "./obstacles";

/**
 * Puts a host into maintenance mode at once, as somebody does by hand: its VMs leave as the cluster's policy says.
 * Answers why it cannot be; nothing has changed then. In it already, nothing happens.
 */
export function enterMaintenance(
  context: SimulatorContext,
  cluster: ClusterState,
  host: HostState,
): string | undefined {
  if (host.maintenance === "IN") return undefined;
  if (host.maintenance === "ENTERING") return `Host ${host.name} is entering maintenance mode for a remediation.`;
  if (host.connection !== "CONNECTED") return `Host ${host.name} is not connected.`;
  const policy = effectivePolicy(context.state.global.defaultPolicy, cluster.policy);
  const obstacle = maintenanceObstacle(context, cluster, host, policy);
  if (obstacle !== undefined) return obstacle;
  evacuate(cluster, host, policy);
  host.maintenance = "IN";
  record(context, cluster, host, "MAINTENANCE_ENTERED", `by hand, ${describeEvacuation(policy, host)}`);
  return undefined;
}

/** Takes a host out of maintenance mode and brings its VMs back. Answers why it cannot be. */
export function exitMaintenance(context: SimulatorContext, cluster: ClusterState, host: HostState): string | undefined {
  if (host.maintenance === "OUT") return undefined;
  if (host.connection !== "CONNECTED") return `Host ${host.name} is not connected.`;
  const isInWork = cluster.tasks.some(
    ({ status, runs = [] }) =>
      status === "OPEN" && runs.some((run) => run.host === host.id && run.status === "RUNNING"),
  );
  if (isInWork) return `Host ${host.name} is being remediated.`;
  bringBack(cluster, host);
  host.maintenance = "OUT";
  record(context, cluster, host, "MAINTENANCE_EXITED", "by hand");
  return undefined;
}

function record(
  context: SimulatorContext,
  cluster: ClusterState,
  host: HostState,
  step: "MAINTENANCE_ENTERED" | "MAINTENANCE_EXITED",
  detail: string,
): void {
  context.record({ at: context.now(), cluster: cluster.id, host: host.id, step, detail });
  context.changed(cluster);
}
