import { findingsOf, inMaintenanceFindings, type Precheck } from "./precheck";

/** Every host of the cluster can be worked on. */
export const hostsConnected: Precheck = {
  type: "HOSTS_CONNECTED",
  name: "Hosts connected",
  description: "Every host of the cluster is connected to the component manager and powered on.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const hosts = await retryPolicy.retry(() => client.listHosts(target.cluster.cluster));
    if (hosts.length === 0) {
      return findingsOf(input, [
        {
          code: "CLUSTER_EMPTY",
          message: `Cluster ${target.cluster.name} has no hosts.`,
          remediation: "Remove the cluster from the upgrade, or add hosts to it.",
        },
      ]);
    }
    return findingsOf(
      input,
      hosts
        .filter(({ connection_state, power_state }) => connection_state !== "CONNECTED" || power_state !== "POWERED_ON")
        .map(({ host, name, connection_state, power_state }) => ({
          code: "HOST_NOT_CONNECTED",
          message: `Host ${name} is ${connection_state} and ${power_state ?? "its power state is not known"}.`,
          remediation: `Bring ${name} back into the cluster or remove it, then run the prechecks again.`,
          context: { host: name, hostId: host },
        })),
    );
  },
};

/** Nobody has a host in maintenance mode: it is never taken out unasked, and the cluster is short of a host. */
export const noHostInMaintenance: Precheck = {
  type: "NO_HOST_IN_MAINTENANCE_MODE",
  name: "No host in maintenance mode",
  description: "No host of the cluster is in maintenance mode.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, maintenance, retryPolicy } = input;
    const { cluster } = target.cluster;
    const hosts = await retryPolicy.retry(() => client.listHosts(cluster));
    const inside = await maintenance.inMaintenance(cluster, retryPolicy);
    return inMaintenanceFindings(
      input,
      hosts.filter(({ host }) => inside.has(host)),
    );
  },
};
