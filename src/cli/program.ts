import { Command, CommanderError, Option } from "commander";
import type { ErrorBody } from "../domain/errors";
import { legible } from "../domain/legible";
import { type Action, type AddCommand, CommandContext } from "./command-context";
import { addCompletion, formats, type KnownId, knownIds, wordsToComplete } from "./completion";
import { addControlCommands } from "./control-commands";
import type { Environment } from "./environment";
import { CliError, exitCode, type ExitCode } from "./errors";
import { addLoginCommands } from "./login-commands";
import { addReadCommands } from "./read-commands";
import { addStartCommands } from "./start-commands";
import { styleFor } from "./text";

const environmentHelp = `
Environment:
  UPGRADECTL_SERVER  the service's address, unless --server names one
  UPGRADECTL_TOKEN   the token to send, instead of that of \`upgradectl login\`
  UPGRADECTL_CONFIG  the file in which \`upgradectl login\` keeps its tokens
  NO_COLOR           anything but empty: no colours

Exit codes: 0 successful, 1 failed, 2 wrong usage, 3 not reachable, 4 refused`;

/** Runs one command to its end. Never throws: what goes wrong is a message and an exit code. */
export async function runCli(args: readonly string[], environment: Environment): Promise<number> {
  let code: ExitCode = exitCode.successful;
  const words = wordsToComplete(args);
  const ids = words ? await knownIds(words, environment) : [];
  const program = createProgram(environment, { lastWord: args.at(-1) ?? "", ids }, (given) => (code = given));
  try {
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.successful : exitCode.wrongUsage;
    return reportError(error, environment);
  }
}

function createProgram(
  environment: Environment,
  { lastWord, ids }: { readonly lastWord: string; readonly ids: readonly KnownId[] },
  end: (code: ExitCode) => void,
): Command {
  const { stdout, stderr } = environment;
  const program = new Command("upgradectl")
    .description("Plan, commit, watch and rescue upgrades of private cloud clusters.")
    .addOption(
      new Option("-o, --output <format>", "tables for people or JSON for scripts").choices(formats).default("table"),
    )
    .option("--server <url>", "the service's address")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
    })
    .showHelpAfterError("Next: `upgradectl --help` shows what there is, `upgradectl COMMAND --help` how it is used.")
    .exitOverride()
    .addHelpText(
      "after",
      `\nExamples:\n  upgradectl plan -f request.yaml\n  upgradectl start -f request.yaml --draft\n  upgradectl commit ID --watch\n${environmentHelp}`,
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
          const [id, options, command] = args as [string, O, Command];
          return act(command, (context) => action(context, id, options));
        },
      runWithOptionalId:
        (action: (context: CommandContext, id: string | undefined) => Promise<ExitCode>): Action =>
        (...args) => {
          const [id, , command] = args as [string | undefined, unknown, Command];
          return act(command, (context) => action(context, id));
        },
    },
  );
  addStartCommands(add);
  addReadCommands(add);
  addControlCommands(add);
  addLoginCommands(add);
  addCompletion(program, lastWord, ids);
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
