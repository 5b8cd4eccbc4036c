import { type Command, Option } from "commander";
import { legible } from "../domain/legible";
import { Task } from "../domain/spec/task";
import { Upgrade } from "../domain/spec/upgrade";
import type { UpgradeUpdateSpec } from "../domain/spec/upgrade-spec";
import { addAcknowledgeCommand } from "./acknowledge-command";
import type { Method } from "./api-client";
import type { AddCommand, CommandContext } from "./command-context";
import { exitCode, type ExitCode, inTermsOfOptions, wrongUsage } from "./errors";
import { ofUpgrade } from "./names";
import { phaseWord } from "./phases";
import { type Counts, countHosts } from "./progress-tree";
import { timeExamples } from "./time-text";
import { watch } from "./watch";

/** Options of commands that ask something of an upgrade. */
export interface ControlOptions {
  readonly at?: string;
  readonly now?: true;
  readonly watch?: true;
  readonly yes?: true;
  readonly ignoreMaintenanceWindow?: true;
  readonly reason?: string;
}

const timeHelp = `begin at this time, such as ${timeExamples}`;

/** What is done to an upgrade that has been accepted: from `commit` to `prechecks`. */
export function addControlCommands(add: AddCommand): void {
  withConfirmation(
    add("commit", "Commit a draft, to start now or at a given time", [
      "upgradectl commit ID",
      'upgradectl commit ID --at "Sat 02:00" --zone Europe/Berlin',
      "upgradectl commit ID --yes --watch",
      'upgradectl commit ID --ignore-maintenance-window --reason "CVE-2026-1"',
    ])
      .argument("<upgrade>", ofUpgrade)
      .option("--at <time>", timeHelp)
      .option(
        "--ignore-maintenance-window",
        "do not wait for maintenance windows and change freezes, also where it waits already; needs --reason and the role ADMIN",
      )
      .option("--reason <text>", "why they are ignored, for people")
      .option("-w, --watch", "follow it until it ends"),
  ).action(add.runWithId(commit));
  withConfirmation(
    add("reschedule", "Reschedule an upgrade or a draft", [
      'upgradectl reschedule ID --at "tomorrow 2am"',
      "upgradectl reschedule ID --now",
    ])
      .argument("<upgrade>", ofUpgrade)
      .addOption(new Option("--at <time>", timeHelp).conflicts("now"))
      .option("--now", "start now"),
  ).action(add.runWithId(reschedule));
  for (const [name, description] of [
    ["pause", "Pause an upgrade; running work finishes first"],
    ["resume", "Resume a paused upgrade"],
  ] as const)
    add(name, description, [`upgradectl ${name} ID`])
      .argument("<upgrade>", ofUpgrade)
      .action(
        add.runWithId((context, id) => control(context, "POST", `/v1/upgrades/${encodeURIComponent(id)}/${name}`)),
      );
  withConfirmation(
    add("resolve", "Give up a failed upgrade; it can then no longer be retried", ["upgradectl resolve ID"]).argument(
      "<upgrade>",
      ofUpgrade,
    ),
  ).action(add.runWithId(resolve));
  withConfirmation(
    add("cancel", "Cancel an upgrade; hosts being upgraded finish safely first", [
      "upgradectl cancel ID",
      "upgradectl cancel ID --yes --watch",
    ])
      .argument("<upgrade>", ofUpgrade)
      .option("-w, --watch", "follow it until it ends"),
  ).action(add.runWithId(cancel));
  addApprovalCommands(add);
  add("prechecks", "Run the prechecks of a draft again", ["upgradectl prechecks ID", "upgradectl prechecks ID --watch"])
    .argument("<upgrade>", ofUpgrade)
    .option("-w, --watch", "follow them until they end; the exit code says whether they passed")
    .action(add.runWithId(prechecks));
  addAcknowledgeCommand(add);
}

/** `approve` and `reject`. */
function addApprovalCommands(add: AddCommand): void {
  add("approve", "Approve an upgrade that somebody else requested", [
    "upgradectl approve ID",
    'upgradectl approve ID --comment "Agreed with the network team"',
  ])
    .argument("<upgrade>", ofUpgrade)
    .option("--comment <text>", "a comment for others to read")
    .action(add.runWithId((context, id, options: ApprovalOptions) => decide(context, id, "approve", options)));
  withConfirmation(
    add("reject", "Reject an upgrade that somebody else requested; it ends as cancelled", [
      'upgradectl reject ID --comment "Not in the week of the fair"',
    ])
      .argument("<upgrade>", ofUpgrade)
      .requiredOption("--comment <text>", "why"),
  ).action(
    add.runWithId(async (context, id, options: ApprovalOptions) => {
      await context.confirm("Reject this upgrade?", options.yes, async () => [
        ...(await nameLines(context, id)),
        "It ends as cancelled and cannot be resumed.",
      ]);
      return decide(context, id, "reject", options);
    }),
  );
}

interface ApprovalOptions {
  readonly comment?: string;
  readonly yes?: true;
}

async function decide(
  context: CommandContext,
  id: string,
  name: "approve" | "reject",
  { comment }: ApprovalOptions,
): Promise<ExitCode> {
  const body = { ...(comment !== undefined && { comment }) };
  try {
    return await control(context, "POST", `/v1/upgrades/${encodeURIComponent(id)}/${name}`, body);
  } catch (error) {
    throw inTermsOfOptions(error, (path) => ({ comment: "--comment" })[path]);
  }
}

/** With the option that stands for a yes. */
export function withConfirmation(command: Command): Command {
  return command.option("-y, --yes", "do not ask for confirmation; required without a terminal");
}

async function commit(context: CommandContext, id: string, options: ControlOptions) {
  const { at, yes, watch: follow, ignoreMaintenanceWindow, reason } = options;
  const scheduledTimestamp = at === undefined ? undefined : context.readTime(at);
  await context.confirm("Commit this upgrade?", yes, async () => [
    ...(await nameLines(context, id)),
    scheduledTimestamp === undefined
      ? "It starts now, or at the requested times that are still in the future."
      : "It starts at this time. Until then it can be rescheduled or cancelled.",
    ...(ignoreMaintenanceWindow ? ["From now on it does not wait for maintenance windows and change freezes."] : []),
    staysUpgraded,
  ]);
  const body: UpgradeUpdateSpec = {
    ...(scheduledTimestamp !== undefined && { scheduledTimestamp }),
    ...(ignoreMaintenanceWindow && { maintenanceWindow: "IGNORE" }),
    ...(reason !== undefined && { reason }),
  };
  const code = await update(context, id, body, follow);
  return follow ? watch(context, id, { isKnown: true }) : code;
}

const staysUpgraded = "Upgraded hosts stay upgraded; no command rolls them back.";

async function reschedule(context: CommandContext, id: string, { at, now, yes }: ControlOptions): Promise<ExitCode> {
  if (at === undefined && !now) throw wrongUsage("reschedule needs a time.", "Add --at TIME or --now.");
  if (at !== undefined) return update(context, id, { scheduledTimestamp: context.readTime(at) });
  await context.confirm("Start this upgrade now?", yes, async () => [
    ...(await nameLines(context, id)),
    "It starts immediately.",
    staysUpgraded,
  ]);
  return update(context, id, { upgradeNow: true });
}

async function update(context: CommandContext, id: string, body: UpgradeUpdateSpec, silent = false): Promise<ExitCode> {
  try {
    return await control(context, "PATCH", `/v1/upgrades/${encodeURIComponent(id)}`, body, silent);
  } catch (error) {
    throw inTermsOfOptions(
      error,
      (path) => ({ scheduledTimestamp: "--at", upgradeNow: "--now", reason: "--reason" })[path],
    );
  }
}

async function resolve(context: CommandContext, id: string, { yes }: ControlOptions): Promise<ExitCode> {
  await context.confirm("Give up this upgrade?", yes, async () => [
    ...(await nameLines(context, id)),
    "It can no longer be retried. Its hosts stay as they are.",
  ]);
  return control(context, "POST", `/v1/upgrades/${encodeURIComponent(id)}/resolve`);
}

async function cancel(context: CommandContext, id: string, options: ControlOptions): Promise<ExitCode> {
  await context.confirm("Cancel this upgrade?", options.yes, async () => [
    ...(await nameLines(context, id)),
    "Nothing new starts, and running work finishes safely. Upgraded hosts stay at the target version.",
    "A cancelled upgrade can be neither resumed nor retried.",
  ]);
  return change(context, "DELETE", id, options);
}

/** Which upgrade it is, and how its hosts are. */
export async function nameLines({ client }: CommandContext, id: string): Promise<readonly string[]> {
  const task = await client.request("GET", `/v1/tasks/${encodeURIComponent(id)}`, Task);
  const counts = countHosts(task.subTasks);
  return [`${task.name} (${id})`, ...(counts.total > 0 ? [`Hosts: ${countsText(counts)}.`] : [])];
}

function countsText({ total, done, running, failed }: Counts): string {
  const left = total - done - running - failed;
  return [
    `${done} of ${total} done`,
    ...(running > 0 ? [`${running} in work`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(left > 0 ? [`${left} left`] : []),
  ].join(", ");
}

/** Sends a request to an upgrade and shows how it is then. */
export async function control(
  context: CommandContext,
  method: Method,
  path: string,
  body?: object,
  silent = false,
): Promise<ExitCode> {
  const upgrade = await context.client.request(method, path, Upgrade, { ...(body && { body }) });
  if (silent) return exitCode.successful;
  context.print(upgrade, () => [`${legible(upgrade.id)}  ${upgrade.status ?? "-"}`]);
  if (upgrade.waitingFor) context.say(`${phaseWord(upgrade)}: ${upgrade.waitingFor.message}`);
  // Where nothing goes on any more there is nothing to watch.
  if (upgrade.endTime !== undefined) return exitCode.successful;
  context.say(`Next: \`upgradectl ${upgrade.phase === "DRAFT_READY" ? "commit" : "watch"} ${upgrade.id}\`.`);
  return exitCode.successful;
}

/** Sends a request to the Task of an upgrade, and shows or follows it. */
export async function change(
  context: CommandContext,
  method: Method,
  id: string,
  options: ControlOptions,
): Promise<ExitCode> {
  const task = await context.client.request(method, `/v1/tasks/${encodeURIComponent(id)}`, Task);
  if (options.watch) return watch(context, id, { isKnown: true });
  context.print(task, () => [`${legible(task.id)}  ${task.status}`]);
  context.say(`Next: \`upgradectl watch ${task.id}\`.`);
  return exitCode.successful;
}

async function prechecks(context: CommandContext, id: string, options: ControlOptions): Promise<ExitCode> {
  const task = await context.client.request("POST", `/v1/upgrades/${encodeURIComponent(id)}/prechecks`, Task);
  if (options.watch) return watch(context, task.id, { isKnown: true });
  context.print(task, () => [`${legible(task.id)}  ${task.status}`]);
  context.say(`Next: \`upgradectl watch ${task.id}\`.`);
  return exitCode.successful;
}
