import { log, type ConcludeActivationInput, type WorkflowInterceptorsFactory } from "@temporalio/workflow";

type Command = ConcludeActivationInput["commands"][number];

/** The commands with which a run of a Workflow ends. */
const ends = [
  "completeWorkflowExecution",
  "failWorkflowExecution",
  "cancelWorkflowExecution",
  "continueAsNewWorkflowExecution",
] as const;

/** What the log says where something was dropped; no test may find it there. */
export const commandsDropped = "Commands after the end of a Workflow were dropped";

/**
 * Nothing a Workflow asks for after its end leaves it, in the activation of the end or in a later one. The server refuses a
 * Workflow Task whose end is not the last command, refuses each repetition as well, and the Workflow then hangs with its
 * lock for good (docs/decisions/0036). Workflows wait for what they have under way before they end; what comes
 * nevertheless is dropped, and the log says so.
 */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let hasEnded = false;
  return {
    internals: [
      {
        concludeActivation: (input, next) => {
          const { commands, ...output } = next(input);
          const { kept, late } = untilEnd(commands, hasEnded);
          hasEnded ||= commands.some(isEnd);
          if (late.length > 0) log.warn(commandsDropped, { commands: late.flatMap((command) => Object.keys(command)) });
          return { ...output, commands: kept };
        },
      },
    ],
  };
};

/**
 * The commands of an activation up to the end, and those that come too late. Answers to Queries always come in time: they
 * are no part of the history.
 */
export function untilEnd(
  commands: readonly Command[],
  hasEnded: boolean,
): { readonly kept: Command[]; readonly late: Command[] } {
  const end = hasEnded ? -1 : commands.findIndex(isEnd);
  if (!hasEnded && end < 0) return { kept: [...commands], late: [] };
  const isInTime = (command: Command, place: number) => place <= end || Boolean(command.respondToQuery);
  return { kept: commands.filter(isInTime), late: commands.filter((command, place) => !isInTime(command, place)) };
}

function isEnd(command: Command): boolean {
  return ends.some((kind) => command[kind]);
}
