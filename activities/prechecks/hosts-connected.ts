import { findingsOf, type Precheck } from "./precheck";

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
