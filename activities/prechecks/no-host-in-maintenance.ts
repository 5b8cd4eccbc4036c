import type { ErrorBody } from "../../src/domain/error-body";
import { findingsOf, type AnyPrecheckInput, type Precheck } from "./precheck";

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

/** Finds hosts that somebody has in maintenance mode: they are not ours to take out, and the cluster is short of them. */
export function inMaintenanceFindings(
  input: AnyPrecheckInput,
  hosts: readonly { readonly host: string; readonly name: string }[],
): ErrorBody[] {
  return findingsOf(
    input,
    hosts.map(({ host, name }) => ({
      code: "HOST_IN_MAINTENANCE_MODE",
      message: `Host ${name} is in maintenance mode.`,
      remediation: `Take ${name} out of maintenance mode or remove it from the cluster, then run the prechecks again.`,
      context: { host: name, hostId: host },
    })),
  );
}
