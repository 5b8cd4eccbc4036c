import { Option } from "commander";
import { legible } from "../domain/legible";
import { Task } from "../domain/spec/task";
import { Upgrade } from "../domain/spec/upgrade";
import type { UpgradeUpdateSpec } from "../domain/spec/upgrade-spec";
import type { Method } from "./api-client";
import type { AddCommand, CommandContext } from "./command-context";
import { exitCode, type ExitCode, wrongUsage } from "./errors";
import { watch } from "./watch";

interface TimeOptions {
  readonly at?: string;
  readonly now?: true;
  readonly watch?: true;
}

const ofUpgrade = "the id of the upgrade";

/** What is done to an upgrade that has been accepted: from `commit` to `prechecks`. */
export function addControlCommands(add: AddCommand): void {
  add("commit", "Commit a draft: it begins at once, or at a time", [
    "upgradectl commit ID",
    "upgradectl commit ID --at 2036-01-06T02:00:00+01:00",
  ])
    .argument("<id>", ofUpgrade)
    .option("--at <time>", "begin at this time, RFC 3339 with an offset")
    .option("-w, --watch", "follow it to its end")
    .action(add.runWithId(commit));
  add("reschedule", "Give a scheduled upgrade, or a draft, another time", [
    "upgradectl reschedule ID --at 2036-01-06T02:00:00Z",
    "upgradectl reschedule ID --now",
  ])
    .argument("<id>", ofUpgrade)
    .addOption(new Option("--at <time>", "begin at this time, RFC 3339 with an offset").conflicts("now"))
    .option("--now", "begin at once")
    .action(add.runWithId(reschedule));
  for (const [name, description] of [
    ["pause", "Begin nothing new; what is in work is finished"],
    ["resume", "Resume a paused upgrade"],
    ["resolve", "Give up a failed upgrade, which can then no longer be retried"],
  ] as const)
    add(name, description, [`upgradectl ${name} ID`])
      .argument("<id>", ofUpgrade)
      .action(
        add.runWithId((context, id) => control(context, "POST", `/v1/upgrades/${encodeURIComponent(id)}/${name}`)),
      );
  for (const [name, method, description] of [
    ["cancel", "DELETE", "Cancel an upgrade; a host in work is brought to a safe end first"],
    ["retry", "PATCH", "Retry a failed upgrade; work that is done is not repeated"],
  ] as const)
    add(name, description, [`upgradectl ${name} ID`])
      .argument("<id>", ofUpgrade)
      .option("-w, --watch", "follow it to its end")
      .action(add.runWithId((context, id, options: TimeOptions) => change(context, method, id, options)));
  add("prechecks", "Run the prechecks of a draft again", ["upgradectl prechecks ID", "upgradectl prechecks ID --watch"])
    .argument("<id>", ofUpgrade)
    .option("-w, --watch", "follow them to their end; the exit code tells whether they have passed")
    .action(add.runWithId(prechecks));
}

async function commit(context: CommandContext, id: string, options: TimeOptions): Promise<ExitCode> {
  const body: UpgradeUpdateSpec = options.at === undefined ? {} : { scheduledTimestamp: options.at };
  const code = await control(context, "PATCH", `/v1/upgrades/${encodeURIComponent(id)}`, body, options.watch);
  return options.watch ? watch(context, id, { isKnown: true }) : code;
}

async function reschedule(context: CommandContext, id: string, { at, now }: TimeOptions): Promise<ExitCode> {
  if (at === undefined && !now) throw wrongUsage("reschedule needs a time.", "Add --at TIME or --now.");
  const body: UpgradeUpdateSpec = at === undefined ? { upgradeNow: true } : { scheduledTimestamp: at };
  return control(context, "PATCH", `/v1/upgrades/${encodeURIComponent(id)}`, body);
}

async function control(
  context: CommandContext,
  method: Method,
  path: string,
  body?: UpgradeUpdateSpec,
  silent = false,
): Promise<ExitCode> {
  const upgrade = await context.client.request(method, path, Upgrade, { ...(body && { body }) });
  if (silent) return exitCode.successful;
  context.print(upgrade, () => [`${legible(upgrade.id)}  ${upgrade.status ?? "-"}`]);
  // Where nothing goes on any more there is nothing to watch.
  if (upgrade.endTime === undefined) context.say(`Next: \`upgradectl watch ${upgrade.id}\`.`);
  return exitCode.successful;
}

async function change(context: CommandContext, method: Method, id: string, options: TimeOptions): Promise<ExitCode> {
  const task = await context.client.request(method, `/v1/tasks/${encodeURIComponent(id)}`, Task);
  if (options.watch) return watch(context, id, { isKnown: true });
  context.print(task, () => [`${legible(task.id)}  ${task.status}`]);
  context.say(`Next: \`upgradectl watch ${task.id}\`.`);
  return exitCode.successful;
}

async function prechecks(context: CommandContext, id: string, options: TimeOptions): Promise<ExitCode> {
  const task = await context.client.request("POST", `/v1/upgrades/${encodeURIComponent(id)}/prechecks`, Task);
  if (options.watch) return watch(context, task.id, { isKnown: true });
  context.print(task, () => [`${legible(task.id)}  ${task.status}`]);
  context.say(`Next: \`upgradectl watch ${task.id}\`.`);
  return exitCode.successful;
}
