import type { NetvirtPrecheck } from "./netvirt-precheck";

/** The NETVIRT manager answers and accepts our credentials. */
export const managerReachable: NetvirtPrecheck = {
  type: "COMPONENT_MANAGER_REACHABLE",
  name: "NETVIRT manager reachable",
  description: "The NETVIRT manager answers and accepts the service's credentials.",
  needs: [],
  run: async ({ client, retryPolicy }) => {
    await retryPolicy.retry(() => client.readSummary());
    return [];
  },
};
