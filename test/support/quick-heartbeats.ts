import type { WorkflowInterceptors } from "@temporalio/workflow";

/** Clusters and management servers whose ids begin so get a short heartbeat timeout, so that a test of lost Activities does not take long. */
export const quickHeartbeats = "lost-";

/** Interceptors of the Workflows in tests. */
export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      scheduleActivity: (input, next) => {
        type Target = { cluster?: { resourceId: string }; server?: { resourceId: string } };
        const [target] = input.args as [Target?];
        const resource = target?.cluster ?? target?.server;
        const quick = resource?.resourceId.startsWith(quickHeartbeats) && input.options.heartbeatTimeout;
        return next(quick ? { ...input, options: { ...input.options, heartbeatTimeout: "1 second" } } : input);
      },
    },
  ],
});
