import { log, type WorkflowInterceptorsFactory } from "@temporalio/workflow";

/** The commands with which a run of a Workflow ends. */
const ends = [
  "completeWorkflowExecution",
  "failWorkflowExecution",
  "cancelWorkflowExecution",
  "continueAsNewWorkflowExecution",
] as const;

/** What the log says where that happened, which no test of ours may find in it. */
export const commandsDropped = "Commands after the end of a Workflow were dropped";

/**
 * Nothing a Workflow asks for after its end leaves it. The server refuses a Workflow Task whose end is not the last command,
 * refuses each repetition as well, and the Workflow then hangs with its lock for good (docs/decisions/0036). Workflows wait
 * for what they have under way before they end; what comes nevertheless is dropped, and the log says so.
 */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  internals: [
    {
      concludeActivation: (input, next) => {
        const output = next(input);
        const end = output.commands.findIndex((command) => ends.some((kind) => command[kind]));
        if (end < 0) return output;
        // Answers to Queries are no part of the history.
        const late = output.commands.slice(end + 1).filter(({ respondToQuery }) => !respondToQuery);
        if (late.length === 0) return output;
        log.warn(commandsDropped, { commands: late.flatMap((command) => Object.keys(command)) });
        return { ...output, commands: output.commands.filter((command) => !late.includes(command)) };
      },
    },
  ],
});
