import { legible } from "../domain/legible";
import type { AcknowledgementSpec, Finding } from "../domain/spec/finding";
import { Task } from "../domain/spec/task";
import { currentFindings, isBlocking, latestPrechecks } from "../domain/task/findings";
import { precheckTaskId } from "../domain/task/prechecks";
import type { AddCommand, CommandContext } from "./command-context";
import { exitCode, type ExitCode, inTermsOfOptions, wrongUsage } from "./errors";
import { findingLines } from "./finding-lines";
import { ofUpgrade } from "./names";

interface AcknowledgeOptions {
  readonly code?: string;
  readonly reason: string;
  readonly resource?: string;
  readonly host?: string;
  readonly subject?: string;
  readonly until?: string;
}

/** `acknowledge`. */
export function addAcknowledgeCommand(add: AddCommand): void {
  add("acknowledge", "Accept a finding of the prechecks, so that it no longer blocks the upgrade", [
    'upgradectl acknowledge ID --reason "That task is ours"',
    'upgradectl acknowledge ID --code HOST_NOT_CONNECTED --resource fra1-prod --host host-12 --reason "In repair" --until "Sun 06:00"',
  ])
    .argument("<upgrade>", ofUpgrade)
    .option("--code <code>", "code of the finding, as `upgradectl get` shows it; needed if several block the upgrade")
    .requiredOption("--reason <text>", "why the upgrade may continue despite it")
    .option("--resource <name>", "name or id of the cluster or server; needed if several have such a finding")
    .option("--host <host>", "id or name of the host; needed if several hosts have such a finding")
    .option("--subject <text>", "its subject; without it, all findings with this code there")
    .option("--until <time>", 'until this time, such as "Sun 06:00"; without it, for the whole upgrade')
    .action(add.runWithId(acknowledge));
}

async function acknowledge(context: CommandContext, id: string, options: AcknowledgeOptions): Promise<ExitCode> {
  const { client, environment, zones } = context;
  const { reason, subject, until } = options;
  const path = `/v1/upgrades/${encodeURIComponent(id)}`;
  const task = await client.request("GET", `/v1/tasks/${encodeURIComponent(id)}`, Task);
  const { code, resourceId, hostId } = chosenFinding(task, options, environment.now());
  const run = latestPrechecks(task).find((one) => one.resourceId === resourceId)?.run ?? 1;
  const body: AcknowledgementSpec = {
    code,
    resourceId,
    reason,
    ...(hostId !== undefined && { hostId }),
    ...(subject !== undefined && { subject }),
    ...(until !== undefined && { until: context.readTime(until) }),
  };
  try {
    const precheckId = precheckTaskId({ upgradeId: task.id, run });
    const prechecked = await client.request("POST", `${path}/prechecks/${precheckId}/acknowledge`, Task, { body });
    context.print(prechecked, () => [`${legible(prechecked.id)}  ${prechecked.status}`]);
  } catch (error) {
    throw inTermsOfOptions(error, (at) => optionOf[at]);
  }
  const after = await client.request("GET", `/v1/tasks/${encodeURIComponent(id)}`, Task);
  const view = { style: context.style, now: environment.now(), zone: zones.given };
  for (const line of findingLines(after, view)) context.say(line);
  return exitCode.successful;
}

const optionOf: Readonly<Record<string, string>> = {
  code: "--code",
  resourceId: "--resource",
  hostId: "--host",
  subject: "--subject",
  reason: "--reason",
  until: "--until",
};

/** What is named of a finding; the rest is that of the only one that blocks the upgrade and fits. */
function chosenFinding(
  task: Task,
  options: AcknowledgeOptions,
  now: number,
): Pick<Finding, "code" | "resourceId" | "hostId"> {
  const { code, resource, host } = options;
  const named = (option: string | undefined, ...values: readonly (string | undefined)[]) =>
    option === undefined || values.includes(option);
  const nameOf = (id: string) => task.resources?.find(({ resourceId }) => resourceId === id)?.name;
  const blocking = currentFindings(task).filter(
    ({ finding }) =>
      isBlocking(finding, now) &&
      named(code, finding.code) &&
      named(resource, finding.resourceId, nameOf(finding.resourceId)) &&
      named(host, finding.hostId, finding.hostName),
  );
  // Several about one host, say two of its disks, are told apart by --subject alone.
  const [only, ...others] = new Map(
    blocking.map(({ finding }) => [JSON.stringify([finding.code, finding.resourceId, finding.hostId]), finding]),
  ).values();
  if (only && others.length === 0) return only;
  if (code !== undefined)
    return { code, resourceId: resourceOf(task, code, resource), ...(host !== undefined && { hostId: host }) };
  throw wrongUsage(
    only ? "Several findings block the upgrade." : "No such finding blocks the upgrade.",
    only
      ? `Name one with --code, --resource or --host; \`upgradectl get ${task.id}\` shows them.`
      : `\`upgradectl get ${task.id}\` shows the findings.`,
  );
}

/** The resource that is named; else the only one with such a finding, or the only one. */
function resourceOf(task: Task, code: string, resource: string | undefined): string {
  const all = task.resources ?? [];
  if (resource !== undefined) {
    const named = all.filter((one) => one.resourceId === resource || one.name === resource);
    return named.length === 1 ? (named[0]?.resourceId ?? resource) : resource;
  }
  const found = currentFindings(task).filter(({ finding }) => finding.code === code);
  const [id, ...others] = new Set(found.map(({ finding }) => finding.resourceId));
  if (id !== undefined && others.length === 0) return id;
  if (id === undefined && all.length === 1) return all[0]?.resourceId ?? "";
  throw wrongUsage(
    id === undefined ? `The prechecks have no finding ${code}.` : `Several resources have the finding ${code}.`,
    id === undefined ? `\`upgradectl get ${task.id}\` shows the findings.` : "Name one with --resource.",
  );
}
