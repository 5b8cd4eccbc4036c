import { randomUUID } from "node:crypto";
import { legible } from "../domain/legible";
import { UpgradePreview } from "../domain/plan/preview";
import { Task } from "../domain/spec/task";
import type { AddCommand, CommandContext } from "./command-context";
import { CliError, exitCode, type ExitCode } from "./errors";
import { readRequest, type UpgradeRequest } from "./request";
import { type RequestOptions, withRequestOptions } from "./request-options";
import { planView, startSummary } from "./views";
import { watch } from "./watch";

interface StartOptions extends RequestOptions {
  readonly watch?: true;
  readonly yes?: true;
  readonly idempotencyKey?: string;
}

/** `start` and `plan`. */
export function addStartCommands(add: AddCommand): void {
  withRequestOptions(
    add("start", "Start, schedule or draft an upgrade", [
      "upgradectl start --cluster fra1-prod-cl01,fra1-prod-cl02 --to 9.0.2 --draft",
      'upgradectl start --cluster fra1-prod-cl01 --to 9.0.2 --at "Sat 02:00" --zone Europe/Berlin',
      'upgradectl start -f examples/cluster-draft.json --change CHG0012345 --reason "Security fixes" --label team=blue',
      "upgradectl start --like 3fae --draft",
      "upgradectl start --cluster fra1-prod-cl01 --to 9.0.2 --exclude-hosts esx-04.example",
      "upgradectl start -f request.yaml --yes --watch",
    ]),
  )
    .option("--draft", "run the prechecks, then wait for `commit`")
    .option("-w, --watch", "follow it until it ends")
    .option("-y, --yes", "do not ask for confirmation; required without a terminal, except for drafts")
    .option("--idempotency-key <key>", "start the request only once, however often it is sent")
    .action(add.run(start));
  withRequestOptions(
    add("plan", "Print what an upgrade would do, without starting anything", [
      "upgradectl plan --cluster fra1-prod-cl01 --to 9.0.2",
      "upgradectl plan -f request.yaml",
      "upgradectl plan -f request.yaml -o json",
    ]),
  ).action(add.run(plan));
}

async function start(context: CommandContext, options: StartOptions): Promise<ExitCode> {
  const request = await readRequest(context, options);
  const { isDraft } = request;
  const isOfOptions = options.file === undefined;
  // A file is looked at before it is sent only where somebody is asked.
  if (isOfOptions) await saySummary(context, request);
  if (!isDraft)
    await context.confirm("Start this upgrade?", options.yes, async () => {
      if (!isOfOptions) await saySummary(context, request);
      return ["Upgraded hosts stay upgraded; no command rolls them back."];
    });
  const key = options.idempotencyKey ?? randomUUID();
  const task = await sendOnce(context, request, key);
  // The summary has told them.
  if (!isOfOptions) sayWarnings(context, task);
  if (!options.watch) {
    context.print(task, () => [legible(task.id)]);
    context.say(`Accepted: ${task.name}.`);
    context.say(`Next: \`upgradectl ${isDraft ? "commit" : "watch"} ${task.id}\`.`);
    return exitCode.successful;
  }
  context.say(`Accepted: ${task.name}, ${task.id}.`);
  if (isDraft) context.say(`A draft waits for \`upgradectl commit ${task.id}\`.`);
  return watch(context, task.id, { isKnown: true });
}

/** What the upgrade would do, for whoever starts it. */
async function saySummary(context: CommandContext, request: UpgradeRequest): Promise<void> {
  const preview = await previewOf(context, request);
  const clusters = await context.names.all("cluster");
  const hosts = new Map(clusters.flatMap((one) => (one.hosts === undefined ? [] : [[one.id, one.hosts] as const])));
  for (const line of startSummary(preview, hosts)) context.say(line);
  sayWarnings(context, preview);
  sayUnknownHosts(context, preview);
}

async function previewOf(
  { client }: CommandContext,
  { body, translate }: Pick<UpgradeRequest, "body" | "translate">,
): Promise<UpgradePreview> {
  try {
    return await client.request("POST", "/v1/upgrades/preview", UpgradePreview, { body });
  } catch (error) {
    throw translate(error);
  }
}

/** Without an answer nobody knows whether the request has come through; the key makes it safe to send it again. */
async function sendOnce({ client }: CommandContext, { body, translate }: UpgradeRequest, key: string): Promise<Task> {
  try {
    return await client.request("POST", "/v1/upgrades", Task, { body, headers: { "idempotency-key": key } });
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== exitCode.notReachable) throw translate(error);
    throw new CliError(
      error.code,
      error.message,
      `When it is back, send it again with --idempotency-key ${key}: nothing starts twice.`,
      { cause: error },
    );
  }
}

/** What of the request has no effect, before anything else is said of it. */
function sayWarnings(context: CommandContext, { warnings = [] }: Pick<Task, "warnings">): void {
  for (const { message } of warnings) context.say(`Warning: ${legible(message)}`);
}

async function plan(context: CommandContext, options: RequestOptions): Promise<ExitCode> {
  const preview = await previewOf(context, await readRequest(context, options));
  context.print(preview, () => planView(preview, context.style, context.columns));
  sayWarnings(context, preview);
  sayUnknownHosts(context, preview);
  return exitCode.successful;
}

function sayUnknownHosts(context: CommandContext, { products }: UpgradePreview): void {
  for (const { name, errors = [] } of products.flatMap(({ resources }) => resources))
    for (const { message } of errors) context.say(`The hosts of ${name} are unknown: ${message}`);
}
