import { resourcesOf, type UpgradePlan } from "../src/domain/plan/upgrade-plan";
import { hasEnded, statusOfPhase, type UpgradePhase } from "../src/domain/spec/upgrade";
import type { HostCounts } from "../src/domain/task/sub-task";
import { toTimestamp } from "../src/domain/timestamp";

interface UpgradeDetails {
  readonly plan: UpgradePlan;
  readonly phase: UpgradePhase;
  /** Epoch milliseconds. */
  readonly nextTime: number | undefined;
  readonly hosts: readonly HostCounts[];
  readonly lastError: string | undefined;
  /** Of a draft, whether its latest prechecks failed. */
  readonly prechecksFailed: boolean;
  /** Whether somebody has cancelled the upgrade, which has not ended yet. */
  readonly cancelling: boolean;
  /** Of a failed upgrade, whether somebody may still retry or resolve it. */
  readonly mayBeDecided: boolean;
  /** Whether something of it was not begun at its time and waits for a commit. */
  readonly awaitsCommit: boolean;
  /** What approvals it lacks, in words. */
  readonly approvalsWanted?: string | undefined;
  /** Who had it started; only of a later run, which has no summary of its own (docs/decisions/0038). */
  readonly requestedBy: string | undefined;
}

/** Phases as operators read them; those that depend on more are told apart in {@link headline}. */
const doing: Record<UpgradePhase, string> = {
  ACCEPTED: "Accepted, about to begin",
  DRAFT_ACCEPTED: "Draft accepted, prechecks are about to begin",
  DRAFT_PRECHECKS: "Draft: running prechecks",
  DRAFT_WAITING: "Draft: waiting for the commit",
  SCHEDULED: "Scheduled",
  START_MISSED: "Not begun at its time: waiting for the commit",
  RUNNING: "Running",
  PAUSED: "Paused: work in progress continues to its end, nothing new starts",
  SUCCESSFUL: "Successful",
  SUCCESSFUL_WITH_WARNING: "Completed with warnings",
  NOTHING_TO_DO: "Nothing was to be done",
  FAILED: "Failed, waiting for a decision",
  CANCELLED: "Cancelled",
};

/**
 * The last paragraph of a text for the Web UI, which cuts off the end of one that its narrow column wraps, as errors
 * are. What can be done stands before them, in short lines.
 */
const blankEnd = "\u00a0";

/** What an operator reads first in the Temporal Web UI (Markdown): phase, what can be done, hosts done, last error. */
export function describeUpgrade(details: UpgradeDetails): string {
  const { phase, nextTime, hosts, lastError } = details;
  const sum = (count: (hosts: HostCounts) => number) => hosts.reduce((total, one) => total + count(one), 0);
  const total = sum((h) => h.total);
  const done = sum((h) => h.upgraded + h.skipped);
  const lines = [...summary(details), `**${headline(details)}** (${statusOfPhase(phase).upgrade})`];
  if (phase === "SCHEDULED" && nextTime !== undefined) lines.push(`Begins at ${toTimestamp(nextTime)}.`);
  const next = nextStep(details);
  lines.push(...next);
  if (total > 0) lines.push(`Hosts: **${done} of ${total}** done, ${sum((h) => h.failed)} failed.`);
  if (details.plan.page !== undefined) lines.push(`[Open in the console](${details.plan.page})`);
  if (lastError !== undefined) lines.push(`Last error: ${lastError}`);
  return [...lines, ...(next.length > 0 || lastError !== undefined ? [blankEnd] : [])].join("\n\n");
}

/** What the Web UI shows of the first run beside its details. */
function summary({ plan, requestedBy }: UpgradeDetails): string[] {
  if (requestedBy === undefined) return [];
  const resources = resourcesOf(plan);
  const first = resources.slice(0, 5).map(({ name, targetVersion }) => `${name.slice(0, 100)} to ${targetVersion}`);
  const more = resources.length > first.length ? [`and ${resources.length - first.length} more`] : [];
  return [
    `${plan.name}${plan.draft ? " (draft)" : ""}`,
    `Bundle \`${plan.bundle.id}\`: ${[...first, ...more].join(", ")}`,
    `Requested by \`${requestedBy.replaceAll("`", "'").slice(0, 255)}\``,
  ];
}

/** The same for a resource's own Workflow: what it does, how many of its hosts or nodes are done, last error. */
export function describeResource(doing: string, counts: readonly string[], lastError: string | undefined): string {
  const error = lastError === undefined ? [] : [`Last error: ${lastError}`, blankEnd];
  return [`**${doing}**`, ...counts, ...error].join("\n\n");
}

/** What a resource's own Workflow does while its upgrade is paused. */
export function pausedWhile(doing: string): string {
  return `Paused: work in progress continues to its end. ${doing}`;
}

function headline({ phase, prechecksFailed, mayBeDecided, cancelling }: UpgradeDetails): string {
  if (cancelling && !hasEnded(phase)) return "Being cancelled: what is in work is brought to a safe end";
  if (phase === "DRAFT_WAITING" && prechecksFailed) return "Draft: its prechecks have failed, it cannot be committed";
  if (phase === "FAILED" && !mayBeDecided) return "Failed";
  return doing[phase];
}

function nextStep(details: UpgradeDetails): string[] {
  const { plan, phase, prechecksFailed, mayBeDecided, awaitsCommit, cancelling, approvalsWanted } = details;
  if (cancelling) return [];
  const command = (name: string) =>
    `\`\`\`\ntemporal workflow signal --name ${name} \\\n  --workflow-id ${plan.id}\n\`\`\``;
  if (phase === "DRAFT_WAITING")
    return prechecksFailed
      ? ["Signal `prechecks` runs them again:", command("prechecks")]
      : ["Signal `commit` begins it:", command("commit")];
  if (awaitsCommit) return ["Signal `commit` begins what was not begun at its time:", command("commit")];
  if (approvalsWanted !== undefined && (phase === "SCHEDULED" || phase === "RUNNING")) {
    const signal = "temporal workflow signal --name approve";
    const input = `--input '{"requestedBy": "NAME"}'`;
    return [
      `${approvalsWanted} Signal \`approve\` gives one, with the approver's name:`,
      `\`\`\`\n${signal} \\\n  --workflow-id ${plan.id} \\\n  ${input}\n\`\`\``,
    ];
  }
  if (phase === "PAUSED") return ["Signal `resume` continues it:", command("resume")];
  if (phase === "FAILED" && mayBeDecided)
    return ["Signal `retry` continues it, `resolve` gives it up:", command("retry")];
  return [];
}
