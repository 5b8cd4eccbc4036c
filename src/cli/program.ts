import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command, CommanderError, Option } from "commander";
import type { ErrorBody } from "../domain/errors";
import { legible } from "../domain/legible";
import { type Action, type AddCommand, CommandContext } from "./command-context";
import { addCompletion, formats, type Offer, offersFor, wordsToComplete } from "./completion";
import { addControlCommands } from "./control-commands";
import type { Environment } from "./environment";
import { CliError, exitCode, type ExitCode } from "./errors";
import { addContextCommands } from "./context-commands";
import { addFreezeCommands } from "./freeze-commands";
import { addCheckCommands } from "./check-commands";
import { addHoldCommands } from "./hold-commands";
import { addListCommands } from "./list-commands";
import { addReadCommands } from "./read-commands";
import { addSkipCommands } from "./skip-commands";
import { addStartCommands } from "./start-commands";
import { styleFor } from "./text";

const environmentHelp = `
Environment:
  UPGRADECTL_SERVER   the service's address, unless --server names one
  UPGRADECTL_TOKEN    the token to send, instead of that of \`upgradectl login\`
  UPGRADECTL_CONTEXT  the context, unless --context names one
  UPGRADECTL_CONFIG   the file that keeps contexts and their tokens
  NO_COLOR            anything but empty: no colours

Exit codes: 0 successful, 1 failed, 2 wrong usage, 3 not reachable, 4 refused`;

/** Runs one command to its end. Never throws: what goes wrong is a message and an exit code. */
export async function runCli(args: readonly string[], environment: Environment): Promise<number> {
  let code: ExitCode = exitCode.successful;
  const words = wordsToComplete(args);
  const offers = words ? await offersFor(words, environment) : [];
  const program = createProgram(environment, { lastWord: args.at(-1) ?? "", offers }, (given) => (code = given));
  try {
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.successful : exitCode.wrongUsage;
    return reportError(error, environment);
  }
}

/** The version in package.json, which is above `src/` and above `dist/src/`. */
function versionOfProgram(folder = __dirname): string {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return versionOfProgram(dirname(folder));
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

function createProgram(
  environment: Environment,
  { lastWord, offers }: { readonly lastWord: string; readonly offers: readonly Offer[] },
  end: (code: ExitCode) => void,
): Command {
  const { stdout, stderr } = environment;
  const program = new Command("upgradectl")
    .description("Plan, commit, watch and rescue upgrades of private cloud clusters.")
    .addOption(
      new Option("-o, --output <format>", "tables for people, JSON or YAML for scripts, or only ids")
        .choices(formats)
        .default("table"),
    )
    .option("--server <url>", "the service's address")
    .option("--context <name>", "the context to use; `upgradectl context` lists them")
    .option("--zone <zone>", "the time zone of times, such as Europe/Berlin")
    .version(versionOfProgram(), "--version", "print the version")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
    })
    .showHelpAfterError("Next: `upgradectl --help` lists the commands, `upgradectl COMMAND --help` explains one.")
    .exitOverride()
    .addHelpText(
      "after",
      `\nExamples:\n  upgradectl plan --cluster fra1-prod-cl01 --to 9.0.2\n  upgradectl start --cluster fra1-prod-cl01 --to 9.0.2 --draft\n  upgradectl commit ID --watch\n${environmentHelp}`,
    );
  const act = (command: Command, work: (context: CommandContext) => Promise<ExitCode>) =>
    work(new CommandContext(environment, command)).then(end);
  const add: AddCommand = Object.assign(
    (name: string, description: string, examples: readonly string[]) =>
      program
        .command(name)
        .description(description)
        .addHelpText("after", `\nExamples:\n${examples.map((example) => `  ${example}\n`).join("")}`),
    {
      run:
        <O>(action: (context: CommandContext, options: O) => Promise<ExitCode>): Action =>
        (...args) => {
          const [options, command] = args as [O, Command];
          return act(command, (context) => action(context, options));
        },
      runWithId:
        <O>(action: (context: CommandContext, id: string, options: O) => Promise<ExitCode>): Action =>
        (...args) => {
          const [name, options, command] = args as [string, O, Command];
          return act(command, async (context) => action(context, await context.names.idOf("upgrade", name), options));
        },
      runWithName:
        <O>(action: (context: CommandContext, name: string | undefined, options: O) => Promise<ExitCode>): Action =>
        (...args) => {
          const [name, options, command] = args as [string | undefined, O, Command];
          return act(command, (context) => action(context, name, options));
        },
    },
  );
  addStartCommands(add);
  addListCommands(add);
  addReadCommands(add);
  addControlCommands(add);
  addSkipCommands(add);
  addFreezeCommands(add);
  addHoldCommands(add);
  addCheckCommands(add);
  addContextCommands(add);
  addCompletion(program, lastWord, offers);
  return program;
}

/** Says what is wrong, all that belongs to it, and one next step, on the standard error; gives the exit code. */
function reportError(error: unknown, environment: Environment): ExitCode {
  const { stderr } = environment;
  const style = styleFor(stderr, environment);
  const known = error instanceof CliError ? error : unforeseen(error);
  const { body } = known;
  const say = (line: string) => stderr.write(`${line}\n`);
  say(`${style.red("Error:")} ${legible(known.message)}`);
  for (const line of known.details) say(`  ${legible(line.trimStart())}`);
  for (const line of nestedLines(body?.nestedErrors ?? [])) say(line);
  if (body) {
    const parts = [body.errorCode, body.referenceToken && `reference ${body.referenceToken}`].filter(Boolean);
    if (parts.length > 0) say(style.dim(`  (${legible(parts.join(", "))})`));
  }
  say(`Next: ${legible(known.nextStep)}`);
  return known.code;
}

function nestedLines(errors: readonly ErrorBody[]): string[] {
  return errors.map(({ message, errorCode }) =>
    legible(`  - ${message}${errorCode === undefined ? "" : ` (${errorCode})`}`),
  );
}

function unforeseen(error: unknown): CliError {
  const message = error instanceof Error ? error.message : String(error);
  return new CliError(exitCode.failed, `upgradectl failed: ${message}`, "Report this with the command that you ran.");
}
