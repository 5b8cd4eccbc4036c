import type { WorkflowInterceptors } from "@temporalio/workflow";

/** Resources whose ids begin so get a short heartbeat timeout, so that a test of lost Activities does not take long. */
export const quickHeartbeats = "lost-";

/** Interceptors of the Workflows in tests. */
export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      scheduleActivity: (input, next) => {
        const [target] = input.args as [Partial<Record<"cluster" | "netvirt" | "server", { resourceId: string }>>?];
        const resource = target?.cluster ?? target?.netvirt ?? target?.server;
        const quick = resource?.resourceId.startsWith(quickHeartbeats) && input.options.heartbeatTimeout;
        return next(quick ? { ...input, options: { ...input.options, heartbeatTimeout: "1 second" } } : input);
      },
    },
  ],
});
