import type { Closed } from "../src/domain/opening";
import { type ResourcePlan, resourcesOf, type UpgradePlan } from "../src/domain/plan/upgrade-plan";
import type { OperatorRequest } from "../src/domain/requests/upgrade-request";
import { bundleName } from "../src/domain/spec/bundle";
import type { PublishedPhase, UpgradeStatus } from "../src/domain/spec/upgrade";
import type { HostCounts } from "../src/domain/task/sub-task";
import { resourceTitle } from "../src/domain/task/resource-progress";
import { phaseWords } from "../src/domain/upgrade/phase-words";

interface UpgradeDetails {
  readonly plan: UpgradePlan;
  readonly phase: PublishedPhase;
  readonly status: UpgradeStatus;
  /** Since when it is in the phase, a Timestamp. */
  readonly since: string;
  /** What it waits for, in a sentence. */
  readonly waitsFor: string | undefined;
  /** What can be asked of it now, the most likely request first. */
  readonly offered: readonly OperatorRequest[];
  readonly mayBeCancelled: boolean;
  /** Until when a failed upgrade can be decided on, a Timestamp. */
  readonly decideBy: string | undefined;
  readonly hosts: readonly HostCounts[];
  /** What is being done now, by name. */
  readonly inWork: readonly string[];
  readonly lastError: string | undefined;
  /** Of the upgrade's Workflow. */
  readonly namespace: string;
  /** Who had it started; only of a later run, which has no summary of its own (docs/decisions/0038). */
  readonly requestedBy: string | undefined;
}

/** The static details of a resource's Workflow, which say whose part it is and where it is steered. */
export function resourceOrigin({ id, name, page }: UpgradePlan, resource: ResourcePlan): string {
  return paragraphs([
    `**${resourceTitle(resource)}** (${resource.resourceId})`,
    `Part of upgrade \`${id}\`: ${name}.`,
    "Pause, resume, cancel and retry the upgrade, not this Workflow.",
    ...(page === undefined ? [] : [`[Open the upgrade in the console](${page})`]),
  ]);
}

/**
 * The last paragraph of a text for the Web UI, which cuts off the end of one that its narrow column wraps, as errors
 * are. What can be done stands before them, in short lines.
 */
const blankEnd = "\u00a0";

/**
 * What an operator reads first in the Temporal Web UI (Markdown): the phase, what is being done or waited for, what can be done and
 * how, the last error.
 */
export function describeUpgrade(details: UpgradeDetails): string {
  const { plan, phase, status, since, lastError } = details;
  const lines = [
    ...summary(details),
    `**${phaseWords[phase]}** (${status}) since ${shortTime(since)}`,
    ...standing(details),
    ...progress(details),
    ...(plan.page === undefined ? [] : [`[Open in the console](${plan.page})`]),
  ];
  const next = actions(details);
  const error = lastError === undefined ? [] : [`${wasMended.has(phase) ? "Earlier" : "Last"} error: ${lastError}`];
  return paragraphs([...lines, ...next, ...error]);
}

/** One that is more than a line gets room at its end. */
function paragraphs(texts: readonly string[]): string {
  return [...texts, ...(texts.length > 1 ? [blankEnd] : [])].join("\n\n");
}

/** Phases in which an error is one of an earlier attempt. */
const wasMended: ReadonlySet<PublishedPhase> = new Set(["SUCCEEDED", "SUCCEEDED_WITH_WARNINGS", "SCHEDULED"]);

/** What the Web UI shows of the first run beside its details. */
function summary({ plan, requestedBy }: UpgradeDetails): string[] {
  if (requestedBy === undefined) return [];
  const resources = resourcesOf(plan);
  const named = resources.map(({ name, targetVersion }) => `${name.slice(0, 100)} to ${targetVersion}`);
  return [
    plan.name,
    `Bundle ${bundleName(plan.bundle)}: ${firstOf(named)}`,
    `Requested by \`${requestedBy.replaceAll("`", "'").slice(0, 255)}\``,
  ];
}

/** What it waits for. Errors have a line of their own, so that they are not said twice. */
function standing({ phase, status, waitsFor, decideBy }: UpgradeDetails): string[] {
  if (phase === "PRECHECKS_FAILED") return ["Its prechecks have failed. Fix what they found, then run them again."];
  if (phase === "ACTION_REQUIRED" && status === "COMPLETED_WITH_FAILURE")
    return [`It has failed and waits for a decision${decideBy === undefined ? "" : ` until ${shortTime(decideBy)}`}.`];
  return waitsFor === undefined ? [] : [waitsFor];
}

function progress({ hosts, inWork }: UpgradeDetails): string[] {
  const sum = (count: (hosts: HostCounts) => number) => hosts.reduce((total, one) => total + count(one), 0);
  const total = sum((h) => h.total);
  const done = sum((h) => h.upgraded + h.skipped);
  return [
    ...(total > 0 ? [`Hosts: **${done} of ${total}** done, ${sum((h) => h.failed)} failed.`] : []),
    ...(inWork.length > 0 ? [`In work: ${firstOf(inWork)}.`] : []),
  ];
}

/** The requests that the upgrade takes now and what each does, with the command for the first. */
function actions(details: UpgradeDetails): string[] {
  const { offered, mayBeCancelled } = details;
  const [first] = offered;
  const cancel = mayBeCancelled ? ["**Request Cancellation** ends it; hosts in work are finished."] : [];
  if (first === undefined) return cancel;
  const signals = offered.map((request) => `- \`${request}\`: ${effectOf(request, details)}`);
  return ["**More Actions, Send an Update** (or a Signal):", signals.join("\n"), ...cancel, command(details, first)];
}

/** What a request does in this phase. */
function effectOf(request: OperatorRequest, { phase, offered }: UpgradeDetails): string {
  switch (request) {
    case "commit":
      if (phase === "DRAFT_PRECHECKS") return "starts it when its prechecks have passed";
      if (phase === "DRAFT_READY") return "starts it, at its time if it has one";
      if (offered[0] === "approve") return "gives it another time, by its input";
      if (phase === "SCHEDULED" || phase === "WAITING") return "starts it now or at another time, by its input";
      return "starts what did not start at its time";
    case "approve":
      return "approves it, in the approver's name";
    case "reject":
      return "rejects it, which ends it";
    case "skip":
      return "leaves out a cluster or host that has not begun, by its input";
    case "resume":
      return "continues it";
    case "retry":
      return "tries again what is not done";
    case "acknowledge":
      return "accepts a finding of the prechecks, by its input";
    case "prechecks":
      return "runs the prechecks again";
    case "pause":
      return "starts no more hosts; those in work are finished";
    case "resolve":
      return "gives it up";
  }
}

/** The input of a request that cannot do without, as an example. */
function inputOf(request: OperatorRequest, phase: PublishedPhase): string[] {
  if (request === "approve") return [`--input '{"requestedBy": "NAME"}'`];
  if (request === "acknowledge")
    return [`--input '{"requestedBy": "NAME", "code": "CODE", "resourceId": "ID", "reason": "WHY"}'`];
  if (request === "skip") return [`--input '{"resourceId": "ID", "reason": "WHY"}'`];
  const isScheduled = phase === "SCHEDULED" || phase === "WAITING";
  return request === "commit" && isScheduled ? [`--input '{"upgradeNow": true}'`] : [];
}

/** A command for Temporal's CLI. Short lines: the Web UI does not wrap them. */
function command({ plan, phase, namespace }: UpgradeDetails, request: OperatorRequest): string {
  const where = [
    ...(plan.temporalAddress === undefined ? [] : [`--address ${plan.temporalAddress}`]),
    ...(plan.temporalAddress === undefined && namespace === "default" ? [] : [`--namespace ${namespace}`]),
  ];
  const lines = [
    `temporal workflow update execute --name ${request}`,
    ...inputOf(request, phase),
    `--workflow-id ${plan.id}`,
    ...(where.length === 0 ? [] : [where.join(" ")]),
  ];
  return `\`\`\`\n${lines.join(" \\\n  ")}\n\`\`\``;
}

/** The first few, and how many more there are. */
function firstOf(names: readonly string[]): string {
  const shown = names.slice(0, 5);
  return [...shown, ...(names.length > shown.length ? [`and ${names.length - shown.length} more`] : [])].join(", ");
}

/** A Timestamp as the Web UI writes times, without a zone to guess. */
function shortTime(timestamp: string): string {
  return timestamp.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");
}

/** What the Web UI shows of a resource's own Workflow. */
interface ResourceDetails {
  readonly doing: string;
  readonly counts: readonly string[];
  /** Its hosts that are being upgraded, by name. */
  readonly inWork: readonly string[];
  readonly lastError: string | undefined;
}

/** What a resource's own Workflow does, how many of its hosts or nodes are done, which are in work, and the last error. */
export function describeResource({ doing, counts, inWork, lastError }: ResourceDetails): string {
  const works = inWork.length === 0 ? [] : [`In work: ${firstOf(inWork)}.`];
  const error = lastError === undefined ? [] : [`Last error: ${lastError}`];
  return paragraphs([`**${doing}**`, ...counts, ...works, ...error]);
}

/** What a resource's own Workflow does while its upgrade is paused. */
export function pausedWhile(doing: string): string {
  return `Paused: work in progress continues to its end. ${doing}`;
}

/** What a resource's own Workflow does while a freeze or a maintenance window keeps it from beginning what comes next. */
export function closedWhile({ code, message }: Closed): string {
  return `${code === "FROZEN" ? "Frozen: nothing" : "Nothing"} new begins. ${message}`;
}
