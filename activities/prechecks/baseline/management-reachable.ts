import type { BaselinePrecheck } from "./baseline-precheck";

/** The component manager's management interface answers and accepts our credentials. */
export const managementReachable: BaselinePrecheck = {
  type: "COMPONENT_MANAGER_REACHABLE",
  name: "Component manager reachable",
  description: "The component manager's management interface answers and accepts the service's credentials.",
  needs: [],
  run: async ({ client, retryPolicy }) => {
    await retryPolicy.retry(() => client.readTime());
    return [];
  },
};
