import type { Command } from "commander";
import { legible } from "../domain/legible";
import { toTimestamp } from "../domain/timestamp";
import { ApiClient } from "./api-client";
import { Contexts } from "./config-file";
import type { Environment } from "./environment";
import { CliError, exitCode, type ExitCode, wrongUsage } from "./errors";
import { Names } from "./names";
import { printableJson, type Style, styleFor } from "./text";
import { checkedZone, parseTime, timeEcho, type Zones, zonesOf } from "./time-text";

/** Options that every command takes. */
interface GlobalOptions {
  readonly output: "table" | "json";
  readonly server?: string;
  readonly context?: string;
  readonly zone?: string;
}

/** What a command works with: the service, and how the user wants to be answered. */
export class CommandContext {
  readonly contexts: Contexts;
  readonly isJson: boolean;
  /** Colours of the standard output. */
  readonly style: Style;
  /** What `--zone` names. */
  readonly zoneOption: string | undefined;
  /** What `--server` names. */
  readonly serverOption: string | undefined;
  private opened: ApiClient | undefined;
  private known: Names | undefined;

  constructor(
    readonly environment: Environment,
    command: Command,
  ) {
    const { output, server, context, zone } = command.optsWithGlobals<GlobalOptions>();
    this.isJson = output === "json";
    this.serverOption = server;
    this.zoneOption = checkedZone(zone);
    this.contexts = new Contexts(environment, context);
    this.style = styleFor(environment.stdout, environment);
  }

  /** The service of the chosen context. */
  get client(): ApiClient {
    this.contexts.check();
    return this.connect();
  }

  /** The same where the context need not be there yet. */
  connect(): ApiClient {
    return (this.opened ??= new ApiClient(this.environment, this.contexts, this.serverOption));
  }

  /** Finds what the command line names. */
  get names(): Names {
    return (this.known ??= new Names(this.client));
  }

  /** The zones of times that are given and shown. */
  get zones(): Zones {
    return zonesOf({ zone: this.zoneOption, contextZone: this.contexts.chosen?.zone }, this.environment.env);
  }

  /** A time as the service takes it, which is echoed before it counts. */
  readTime(text: string): string {
    const { zones } = this;
    const now = this.environment.now();
    const at = parseTime(text, zones, now);
    this.say(`Time: ${timeEcho(at, zones, now)}`);
    return toTimestamp(at);
  }

  /**
   * Has the user agree to what cannot be taken back: by `--yes`, or in the terminal, below the consequences. Throws where
   * there is no terminal to ask in, and where the answer is no.
   */
  async confirm(
    question: string,
    isAgreed: boolean | undefined,
    consequences: () => Promise<readonly string[]> = () => Promise.resolve([]),
  ): Promise<void> {
    if (isAgreed) return;
    if (this.environment.stdin.isTTY !== true)
      throw wrongUsage(
        "This cannot be taken back, and there is no terminal to ask in.",
        "Add --yes to do it without being asked.",
      );
    for (const line of await consequences()) this.say(line);
    if (await this.environment.confirm(question)) return;
    throw new CliError(exitCode.interrupted, "Nothing was done.", "Run the command again, and answer yes.");
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
  /** With the id of the upgrade that the first argument names. */
  runWithId<O>(action: (context: CommandContext, id: string, options: O) => Promise<ExitCode>): Action;
  runWithName<O>(action: (context: CommandContext, name: string | undefined, options: O) => Promise<ExitCode>): Action;
}

/** What commander calls: with the arguments, then the options, then the command. */
export type Action = (...args: unknown[]) => Promise<void>;
