import { legible } from "../domain/legible";
import type { AcknowledgementSpec } from "../domain/spec/finding";
import { Task } from "../domain/spec/task";
import { currentFindings, latestPrechecks } from "../domain/task/findings";
import { precheckTaskId } from "../domain/task/prechecks";
import type { AddCommand, CommandContext } from "./command-context";
import { exitCode, type ExitCode, inTermsOfOptions, wrongUsage } from "./errors";
import { findingLines } from "./finding-lines";
import { ofUpgrade } from "./names";

interface AcknowledgeOptions {
  readonly code: string;
  readonly reason: string;
  readonly resource?: string;
  readonly host?: string;
  readonly subject?: string;
  readonly until?: string;
}

/** `acknowledge`. */
export function addAcknowledgeCommand(add: AddCommand): void {
  add("acknowledge", "Accept a finding of the prechecks, so that it no longer blocks the upgrade", [
    'upgradectl acknowledge ID --code CLUSTER_BUSY --reason "That task is ours"',
    'upgradectl acknowledge ID --code HOST_NOT_CONNECTED --resource fra1-prod --host host-12 --reason "In repair" --until "Sun 06:00"',
  ])
    .argument("<upgrade>", ofUpgrade)
    .requiredOption("--code <code>", "code of the finding, as `upgradectl get` shows it")
    .requiredOption("--reason <text>", "why the upgrade may continue despite it")
    .option("--resource <name>", "name or id of the cluster or server; needed if several have such a finding")
    .option("--host <host>", "id or name of the host; needed if the finding is about a host")
    .option("--subject <text>", "its subject; without it, all findings with this code there")
    .option("--until <time>", 'until this time, such as "Sun 06:00"; without it, for the whole upgrade')
    .action(add.runWithId(acknowledge));
}

async function acknowledge(context: CommandContext, id: string, options: AcknowledgeOptions): Promise<ExitCode> {
  const { client, environment, zones } = context;
  const { code, reason, host, subject, until } = options;
  const path = `/v1/upgrades/${encodeURIComponent(id)}`;
  const task = await client.request("GET", `/v1/tasks/${encodeURIComponent(id)}`, Task);
  const resourceId = resourceOf(task, options);
  const run = latestPrechecks(task).find((one) => one.resourceId === resourceId)?.run ?? 1;
  const body: AcknowledgementSpec = {
    code,
    resourceId,
    reason,
    ...(host !== undefined && { hostId: host }),
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

/** The resource that is named; else the only one with such a finding, or the only one. */
function resourceOf(task: Task, { resource, code }: AcknowledgeOptions): string {
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
