import { proxySinks, type Sinks, type WorkflowInterceptors } from "@temporalio/workflow";

/** Called at each line that a Workflow logs; the worker gets the same of the Workflow as with the line. */
export interface LogWatch extends Sinks {
  logWatch: { logged(): void };
}

const { logWatch } = proxySinks<LogWatch>();

/** Interceptors of the Workflows in tests of what they log. */
export const interceptors = (): WorkflowInterceptors => ({
  outbound: [
    {
      getLogAttributes: (input, next) => {
        logWatch.logged();
        return next(input);
      },
    },
  ],
});
