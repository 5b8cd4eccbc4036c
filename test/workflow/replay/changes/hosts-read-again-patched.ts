import { patched, type WorkflowInterceptors } from "@temporalio/workflow";

/** The same change as in `hosts-read-again`, made so that Workflows which began before it go on as they were. */
export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      scheduleActivity: async (input, next) => {
        if (input.activityType === "remediateHosts" && patched("hosts-read-again"))
          await next({ ...input, activityType: "readClusterHosts" });
        return next(input);
      },
    },
  ],
});
