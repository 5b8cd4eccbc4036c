import type { WorkflowInterceptors } from "@temporalio/workflow";

/** A change as it might well be made: the hosts of the cluster are read once more before each of them is upgraded. */
export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      scheduleActivity: async (input, next) => {
        if (input.activityType === "remediateHosts") await next({ ...input, activityType: "readClusterHosts" });
        return next(input);
      },
    },
  ],
});
