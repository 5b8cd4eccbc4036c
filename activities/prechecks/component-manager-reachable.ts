import type { Precheck } from "./precheck";

/** The component manager answers and accepts our credentials. */
export const componentManagerReachable: Precheck = {
  type: "COMPONENT_MANAGER_REACHABLE",
  name: "Component manager reachable",
  description: "The component manager answers and accepts the service's credentials.",
  needs: [],
  run: async ({ client, retryPolicy }) => {
    await retryPolicy.retry(() => client.readUser());
    return [];
  },
};
