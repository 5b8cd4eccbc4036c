import type { Command } from "commander";
import * as t from "io-ts";
import { legible } from "../domain/legible";
import { toTimestamp } from "../domain/timestamp";
import { ApiClient } from "./api-client";
import type { Format } from "./completion";
import { Contexts } from "./config-file";
import type { Environment } from "./environment";
import { CliError, exitCode, type ExitCode, wrongUsage } from "./errors";
import { Names } from "./names";
import { printableJson, printableYaml, type Style, styleFor } from "./text";
import { checkedZone, parseTime, timeEcho, type Zones, zonesOf } from "./time-text";

/** Options that every command takes. */
interface GlobalOptions {
  readonly output: Format;
  readonly server?: string;
  readonly context?: string;
  readonly zone?: string;
}

/** What a command works with: the service, and how the user wants to be answered. */
export class CommandContext {
  readonly contexts: Contexts;
  /** Whether results are for scripts, in JSON or YAML. */
  readonly isJson: boolean;
  /** Whether tables have all that is known. */
  readonly isWide: boolean;
  private readonly format: Format;
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
    this.format = output;
    this.isJson = output === "json" || output === "yaml";
    this.isWide = output === "wide";
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
      throw wrongUsage("This cannot be undone, and there is no terminal to confirm it in.", "Add --yes to confirm it.");
    for (const line of await consequences()) this.say(line);
    if (await this.environment.confirm(question)) return;
    throw new CliError(exitCode.interrupted, "Nothing was done.", "Run the command again and answer yes.");
  }

  /** One of several results for a script: JSON on a line of its own, or a YAML document. */
  printJsonLine(value: unknown): void {
    const { stdout } = this.environment;
    stdout.write(this.format === "yaml" ? `---\n${printableYaml(value)}` : `${printableJson(value)}\n`);
  }

  /** The width of the terminal that results go to; undefined where they go somewhere else. */
  get columns(): number | undefined {
    const { isTTY, columns } = this.environment.stdout;
    return isTTY === true ? columns : undefined;
  }

  /** A result: a document for scripts, ids, or lines for people. */
  print(value: unknown, lines: () => readonly string[]): void {
    const { stdout } = this.environment;
    if (this.format === "json") stdout.write(`${printableJson(value, 2)}\n`);
    else if (this.format === "yaml") stdout.write(printableYaml(value));
    else for (const line of (this.format === "name" && idsOf(value)) || lines()) stdout.write(`${line}\n`);
  }

  /** A message for people, which is no result. */
  say(message: string): void {
    this.environment.stderr.write(`${legible(message)}\n`);
  }
}

const Identified = t.type({ id: t.string });
const Listed = t.type({ elements: t.array(Identified) });

/** The ids of what a result is about; undefined where it is about nothing that has one. */
function idsOf(value: unknown): readonly string[] | undefined {
  if (Listed.is(value)) return value.elements.map(({ id }) => legible(id));
  return Identified.is(value) ? [legible(value.id)] : undefined;
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
