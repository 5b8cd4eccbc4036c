import { Option } from "commander";
import { legible } from "../domain/legible";
import { PageOfReadinessSchedule, type ReadinessSchedule } from "../domain/readiness/readiness-spec";
import { PageOfTask, Task } from "../domain/spec/task";
import type { AddCommand, CommandContext } from "./command-context";
import { exitCode, type ExitCode, inTermsOfOptions, wrongUsage } from "./errors";
import { findingLines } from "./finding-lines";
import { outcomeOf } from "./progress-tree";
import { bundleNamed } from "./request";
import { separated } from "./request-options";
import { timeIn } from "./time-text";
import { watch } from "./watch";

interface CheckOptions {
  readonly cluster?: readonly string[];
  readonly to?: string;
  readonly schedule?: string;
  readonly watch?: true;
}

interface ChecksOptions {
  readonly cancel?: true;
  readonly delete?: true;
}

/** `check` and `checks`: the prechecks of an upgrade that is not started, once or by a schedule. */
export function addCheckCommands(add: AddCommand): void {
  add("check", "Check whether clusters are ready for an upgrade, without starting one; nothing is locked or changed", [
    "upgradectl check --cluster fra1-prod-cl01,fra1-prod-cl02 --to 9.0.2 --watch",
    'upgradectl check --cluster fra1-prod-cl01 --to 9.0.2 --schedule "0 2 * * *" --zone Europe/Berlin',
  ])
    .addOption(
      new Option("-c, --cluster <clusters>", "clusters by name or id, separated by commas").argParser(separated),
    )
    .option("--to <version>", "the version, or the id of its bundle")
    .option(
      "--schedule <cron>",
      "repeat it: minute, hour, day of month, month, day of week, in the time zone of --zone",
    )
    .option("-w, --watch", "follow it until it ends; the exit code says whether it passed")
    .action(add.run(check));
  add("checks", "List readiness checks and their schedules, or show what one check has found", [
    "upgradectl checks",
    "upgradectl checks ID",
    "upgradectl checks ID --delete",
  ])
    .argument("[id]", "id of a check, or of a schedule")
    .addOption(new Option("--cancel", "cancel the check").conflicts("delete"))
    .option("--delete", "delete the schedule; a check that has begun continues")
    .action(add.runWithName(checks));
}

async function check(context: CommandContext, options: CheckOptions): Promise<ExitCode> {
  const { cluster = [], to, schedule } = options;
  if (cluster.length === 0 || to === undefined)
    throw wrongUsage("check needs clusters and a version.", "Add --cluster NAME,NAME --to VERSION.");
  const resourceIds: string[] = [];
  for (const name of cluster) resourceIds.push(await context.names.idOf("cluster", name));
  const { id: bundleId } = await bundleNamed(context, to);
  const times = schedule === undefined ? undefined : { cron: schedule, timeZone: context.zones.given };
  const body = { bundleId, resourceIds, ...(times && { schedule: times }) };
  const task = await context.client.request("POST", "/v1/prechecks", Task, { body }).catch((error: unknown) => {
    throw inTermsOfOptions(error, (field) => optionOf(field, cluster));
  });
  if (times)
    context.say(`Scheduled: ${times.cron} in ${times.timeZone}. \`upgradectl checks ${task.id} --delete\` ends it.`);
  if (!options.watch) {
    context.print(task, () => [legible(task.id)]);
    context.say(`Next: \`upgradectl checks ${task.id}\`.`);
    return exitCode.successful;
  }
  const ended = await watch(context, task.id, { isKnown: true });
  if (!context.isJson) sayFindings(context, await read(context, task.id));
  return ended;
}

function optionOf(field: string, clusters: readonly string[]): string | undefined {
  const [, place] = /^resourceIds\[(\d+)\]/.exec(field) ?? [];
  if (place !== undefined) return `--cluster ${clusters[Number(place)] ?? ""}`;
  if (field === "schedule.timeZone") return "--zone";
  return (
    { bundleId: "--to", resourceIds: "--cluster" }[field] ?? (field.startsWith("schedule") ? "--schedule" : undefined)
  );
}

async function checks(
  context: CommandContext,
  id: string | undefined,
  { cancel, delete: deletes }: ChecksOptions,
): Promise<ExitCode> {
  if (id === undefined) {
    if (cancel || deletes)
      throw wrongUsage("No check or schedule is named.", "Give its id; `upgradectl checks` lists them.");
    return list(context);
  }
  if (deletes) {
    await context.client.open("DELETE", `/v1/prechecks/schedules/${encodeURIComponent(id)}`);
    context.say("The schedule is deleted.");
    return exitCode.successful;
  }
  const task = cancel
    ? await context.client.request("DELETE", `/v1/tasks/${encodeURIComponent(id)}`, Task)
    : await read(context, id);
  context.print(task, () => [lineOf(context, task), ...findingsOf(context, task)]);
  return cancel ? exitCode.successful : (outcomeOf(task.status) ?? exitCode.successful);
}

function read(context: CommandContext, id: string): Promise<Task> {
  return context.client.request("GET", `/v1/tasks/${encodeURIComponent(id)}`, Task);
}

/** The newest checks, as many as one looks at, and all schedules. */
async function list(context: CommandContext): Promise<ExitCode> {
  const [tasks, schedules] = await Promise.all([
    context.client.request("GET", "/v1/prechecks?pageSize=50", PageOfTask),
    context.client.request("GET", "/v1/prechecks/schedules", PageOfReadinessSchedule),
  ]);
  const { elements: found = [] } = tasks;
  const { elements: kept = [] } = schedules;
  context.print({ checks: found, schedules: kept }, () => [
    ...(found.length === 0 ? ["No readiness check has run."] : found.map((task) => lineOf(context, task))),
    ...kept.map((schedule) => scheduleLine(context, schedule)),
  ]);
  return exitCode.successful;
}

function lineOf({ zones }: CommandContext, { id, name, status, creationTimestamp }: Task): string {
  return legible(`${id}  ${status}  ${timeIn(Date.parse(creationTimestamp), zones.given)}  ${name}`);
}

function scheduleLine({ zones }: CommandContext, { id, name, schedule, nextRun }: ReadinessSchedule): string {
  const next = nextRun === undefined ? "" : `, next ${timeIn(Date.parse(nextRun), zones.given)}`;
  return legible(`Schedule ${id}  ${schedule.cron} in ${schedule.timeZone}${next}  ${name}`);
}

function sayFindings(context: CommandContext, task: Task): void {
  for (const line of findingsOf(context, task)) context.say(line);
}

function findingsOf({ style, environment, zones }: CommandContext, task: Task): string[] {
  // As in a Task of an upgrade, whose prechecks are a part of it.
  const { name, status: _, ...rest } = task;
  const run = { ...rest, name, type: "PRECHECKS", description: "", status: "SUCCESSFUL" as const };
  return findingLines({ ...task, subTasks: [run] }, { style, now: environment.now(), zone: zones.given });
}
