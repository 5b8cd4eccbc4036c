import type { Command } from "commander";
import type { CommandContext } from "./command-context";
import type { ExitCode } from "./exit-code";

/** Adds a command with its examples; the other fields make its action. */
export interface AddCommand {
  (name: string, description: string, examples: readonly string[]): Command;
  run<O>(action: (context: CommandContext, options: O) => Promise<ExitCode>): Action;
  runWithId<O>(action: (context: CommandContext, id: string, options: O) => Promise<ExitCode>): Action;
  runWithOptionalId(action: (context: CommandContext, id: string | undefined) => Promise<ExitCode>): Action;
}

/** What commander calls: with the arguments, then the options, then the command. */
export type Action = (...args: unknown[]) => Promise<void>;
