import { sleep, type WorkflowInterceptors } from "@temporalio/workflow";

/** A change that no history survives: every Workflow begins with one more timer. */
export const interceptors = (): WorkflowInterceptors => ({
  inbound: [
    {
      execute: async (input, next) => {
        await sleep("1 second");
        return next(input);
      },
    },
  ],
});
