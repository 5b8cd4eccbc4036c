import { redStatuses } from "../../baseline/red-statuses";
import { hasEnded } from "../../drivers/vim25/vim25-models";
import { inMaintenanceFindings } from "../no-host-in-maintenance";
import { findingsOf } from "../precheck";
import type { BaselinePrecheck } from "./baseline-precheck";

/** Every host of the cluster can be worked on. */
export const baselineHostsConnected: BaselinePrecheck = {
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
        .filter(({ connection, power }) => connection !== "connected" || power !== "poweredOn")
        .map(({ host, name, connection, power }) => ({
          code: "HOST_NOT_CONNECTED",
          message: `Host ${name} is ${connection} and ${power}.`,
          remediation: `Bring ${name} back into the cluster or remove it, then run the prechecks again.`,
          context: { host: name, hostId: host },
        })),
    );
  },
};

/** Nobody has a host in maintenance mode: it is not ours to take out, and the cluster is short of a host. */
export const noHostInMaintenanceMode: BaselinePrecheck = {
  type: "NO_HOST_IN_MAINTENANCE_MODE",
  name: "No host in maintenance mode",
  description: "No host of the cluster is in maintenance mode.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const hosts = await retryPolicy.retry(() => client.listHosts(target.cluster.cluster));
    return inMaintenanceFindings(
      input,
      hosts.filter(({ inMaintenanceMode }) => inMaintenanceMode),
    );
  },
};

/** Nobody else works on the hosts; checks of patches are ours and harm nothing. */
export const noHostTask: BaselinePrecheck = {
  type: "NO_OPERATION_IN_PROGRESS",
  name: "No operation in progress",
  description: "No other operation runs on a host of the cluster.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const hosts = await retryPolicy.retry(() => client.listHosts(target.cluster.cluster));
    const busy = hosts.flatMap(({ name, tasks }) =>
      tasks
        .filter((task) => !hasEnded(task) && !/\.check(hostpatch)?$/i.test(task.descriptionId))
        .map(({ key, descriptionId, state }) => ({
          code: "CLUSTER_BUSY",
          message: `Task ${key} (${descriptionId}) is ${state} on host ${name}.`,
          remediation: "Wait for that task to end or cancel it in the component manager, then run the prechecks again.",
          context: { host: name, task: key },
        })),
    );
    return findingsOf(input, busy);
  },
};

/** The component manager itself finds nothing wrong with the cluster and its hosts. */
export const hostsHealthy: BaselinePrecheck = {
  type: "CLUSTER_HEALTH",
  name: "Health",
  description: "The component manager shows no alarm for the cluster and its hosts.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const red = await redStatuses(client, retryPolicy, target.cluster.cluster);
    return findingsOf(
      input,
      red.map((title) => ({
        code: "HEALTH_CHECK_ERROR",
        message: `${title} has the status red.`,
        remediation: `Look at the alarms of ${title} in the component manager and resolve them, then run the prechecks again.`,
      })),
    );
  },
};
