import type { MgmtCheck } from "./mgmt-precheck";

/** The management server answers and accepts our credentials. */
export const serverReachable: MgmtCheck = {
  type: "COMPONENT_MANAGER_REACHABLE",
  name: "Management server reachable",
  description: "The management server answers and accepts the service's credentials.",
  needs: [],
  run: async ({ client, retryPolicy }) => {
    await retryPolicy.retry(() => client.readUpdate());
    return [];
  },
};
