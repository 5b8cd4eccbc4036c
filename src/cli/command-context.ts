import type { Command } from "commander";
import { legible } from "../domain/legible";
import { ApiClient } from "./api-client";
import type { Environment } from "./environment";
import type { ExitCode } from "./errors";
import { printableJson, type Style, styleFor } from "./text";

/** Options that every command takes. */
interface GlobalOptions {
  readonly output: "table" | "json";
  readonly server?: string;
}

/** What a command works with: the service, and how the user wants to be answered. */
export class CommandContext {
  readonly client: ApiClient;
  readonly isJson: boolean;
  /** Colours of the standard output. */
  readonly style: Style;

  constructor(
    readonly environment: Environment,
    command: Command,
  ) {
    const { output, server } = command.optsWithGlobals<GlobalOptions>();
    this.isJson = output === "json";
    this.client = new ApiClient(environment, server);
    this.style = styleFor(environment.stdout, environment);
  }

  /** A result for a script: one JSON document. */
  printJson(value: unknown): void {
    this.environment.stdout.write(`${printableJson(value, 2)}\n`);
  }

  /** One of several results for a script: JSON on a line of its own. */
  printJsonLine(value: unknown): void {
    this.environment.stdout.write(`${printableJson(value)}\n`);
  }

  /** The width of the terminal that results go to; undefined where they go somewhere else. */
  get columns(): number | undefined {
    const { isTTY, columns } = this.environment.stdout;
    return isTTY === true ? columns : undefined;
  }

  /** A result, as JSON or as lines for people. */
  print(value: unknown, lines: () => readonly string[]): void {
    if (this.isJson) this.printJson(value);
    else for (const line of lines()) this.environment.stdout.write(`${line}\n`);
  }

  /** A message for people, which is no result. */
  say(message: string): void {
    this.environment.stderr.write(`${legible(message)}\n`);
  }
}

/** Adds a command with its examples; the other fields make its action. */
export interface AddCommand {
  (name: string, description: string, examples: readonly string[]): Command;
  run<O>(action: (context: CommandContext, options: O) => Promise<ExitCode>): Action;
  runWithId<O>(action: (context: CommandContext, id: string, options: O) => Promise<ExitCode>): Action;
  runWithOptionalId(action: (context: CommandContext, id: string | undefined) => Promise<ExitCode>): Action;
}

/** What commander calls: with the arguments, then the options, then the command. */
export type Action = (...args: unknown[]) => Promise<void>;
