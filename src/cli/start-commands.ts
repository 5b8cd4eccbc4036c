import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { parse } from "yaml";
import { legible } from "../domain/legible";
import { UpgradePreview } from "../domain/plan/preview";
import { Task } from "../domain/spec/task";
import type { AddCommand, CommandContext } from "./command-context";
import type { Environment } from "./environment";
import { CliError, exitCode, type ExitCode, wrongUsage } from "./errors";
import { planView } from "./views";
import { watch } from "./watch";

interface StartOptions {
  readonly file: string;
  readonly draft?: true;
  readonly watch?: true;
  readonly idempotencyKey?: string;
}

/** `start` and `plan`. */
export function addStartCommands(add: AddCommand): void {
  withFile(
    add("start", "Start an upgrade, or schedule it, or draft it", [
      "upgradectl start -f examples/cluster-draft.json",
      "upgradectl start -f request.yaml --draft --watch",
    ]),
  )
    .option("--draft", "run the prechecks, then wait for `commit`")
    .option("-w, --watch", "follow it to its end")
    .option("--idempotency-key <key>", "start the same request once, however often it is sent")
    .action(add.run(start));
  withFile(
    add("plan", "Print what an upgrade would do, without starting anything", [
      "upgradectl plan -f request.yaml",
      "upgradectl plan -f request.yaml -o json",
    ]),
  ).action(add.run(plan));
}

function withFile(command: Command): Command {
  return command.requiredOption("-f, --file <file>", "the request, JSON or YAML; - is the standard input");
}

async function start(context: CommandContext, options: StartOptions): Promise<ExitCode> {
  const read = await readSpec(options.file, context.environment);
  const body = options.draft ? { ...read, draftMode: true } : read;
  const key = options.idempotencyKey ?? randomUUID();
  const task = await sendOnce(context, body, key);
  sayWarnings(context, task);
  if (!options.watch) {
    context.print(task, () => [legible(task.id)]);
    context.say(`Accepted: ${task.name}.`);
    context.say(`Next: \`upgradectl ${body["draftMode"] === true ? "commit" : "watch"} ${task.id}\`.`);
    return exitCode.successful;
  }
  context.say(`Accepted: ${task.name}, ${task.id}.`);
  if (body["draftMode"] === true) context.say(`A draft waits for \`upgradectl commit ${task.id}\`.`);
  return watch(context, task.id, { isKnown: true });
}

/** Without an answer nobody knows whether the request has come through; the key makes it safe to send it again. */
async function sendOnce({ client }: CommandContext, body: unknown, key: string): Promise<Task> {
  try {
    return await client.request("POST", "/v1/upgrades", Task, { body, headers: { "idempotency-key": key } });
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== exitCode.notReachable) throw error;
    throw new CliError(
      error.code,
      error.message,
      `When it is back, send it again with --idempotency-key ${key}: if it was accepted nothing starts twice.`,
      { cause: error },
    );
  }
}

/** What of the request has no effect, before anything else is said of it. */
function sayWarnings(context: CommandContext, { warnings = [] }: Pick<Task, "warnings">): void {
  for (const { message } of warnings) context.say(`Warning: ${legible(message)}`);
}

async function plan(context: CommandContext, { file }: StartOptions): Promise<ExitCode> {
  const body = await readSpec(file, context.environment);
  const preview = await context.client.request("POST", "/v1/upgrades/preview", UpgradePreview, { body });
  context.print(preview, () => planView(preview, context.style, context.columns));
  sayWarnings(context, preview);
  const resources = preview.products.flatMap((product) => product.resources);
  for (const { name, errors = [] } of resources)
    for (const { message } of errors) context.say(`The hosts of ${name} are not known: ${message}`);
  return exitCode.successful;
}

/**
 * The request in a file, JSON or YAML; `-` is the standard input. What is in it is the service's to judge, which tells
 * all that is wrong at once; only that it is an object is looked at here.
 */
async function readSpec(file: string, { stdin }: Pick<Environment, "stdin">): Promise<Record<string, unknown>> {
  const name = file === "-" ? "The standard input" : file;
  let content: string;
  try {
    content = file === "-" ? await text(stdin) : readFileSync(file, "utf8");
  } catch (error) {
    throw wrongUsage(
      `${name} cannot be read: ${(error as Error).message}.`,
      "Name a file with -f, or - for the standard input.",
    );
  }
  let value: unknown;
  try {
    value = parse(content);
  } catch (error) {
    throw wrongUsage(`${name} is neither JSON nor YAML: ${(error as Error).message}`, "Correct the syntax there.");
  }
  if (isObject(value)) return value;
  throw wrongUsage(`${name} holds no request.`, "Write an UpgradeSpec into it; examples/ has some to begin with.");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
