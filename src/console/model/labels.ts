import type { ReasonCode, StageStatus, SubTaskStatus, Task, TaskStatus } from "../../domain/spec/task";
import type { PublishedPhase, UpgradeStatus } from "../../domain/spec/upgrade";
import { phaseWords } from "../../domain/upgrade/phase-words";

/** How a status looks: never by colour alone, each has its own sign and word. */
export interface StatusWords {
  readonly tone: "waiting" | "running" | "good" | "warning" | "bad" | "off";
  readonly sign: string;
  readonly word: string;
}

const waiting = (word: string): StatusWords => ({ tone: "waiting", sign: "○", word });
const running = (word: string): StatusWords => ({ tone: "running", sign: "▶", word });
const good = (word: string): StatusWords => ({ tone: "good", sign: "✓", word });
const off = (word: string): StatusWords => ({ tone: "off", sign: "–", word });
const failed: StatusWords = { tone: "bad", sign: "✕", word: "Failed" };

const ofUpgrades: Record<UpgradeStatus, StatusWords> = {
  PENDING: waiting("Accepted"),
  DRAFT: waiting("Draft"),
  SCHEDULED: waiting("Scheduled"),
  INPROGRESS: running("Running"),
  PAUSED: { tone: "warning", sign: "Ⅱ", word: "Paused" },
  COMPLETED_WITH_SUCCESS: good("Successful"),
  COMPLETED_WITH_FAILURE: failed,
  CANCELLED: off("Cancelled"),
};

const warning = (sign: string, word: string): StatusWords => ({ tone: "warning", sign, word });
const bad = (word: string): StatusWords => ({ tone: "bad", sign: "✕", word });

const ofPhases: Record<PublishedPhase, StatusWords> = {
  DRAFT_PRECHECKS: running(phaseWords.DRAFT_PRECHECKS),
  DRAFT_READY: waiting(phaseWords.DRAFT_READY),
  PRECHECKS_FAILED: bad(phaseWords.PRECHECKS_FAILED),
  SCHEDULED: waiting(phaseWords.SCHEDULED),
  WAITING: waiting(phaseWords.WAITING),
  RUNNING: running(phaseWords.RUNNING),
  PAUSING: warning("Ⅱ", phaseWords.PAUSING),
  PAUSED: warning("Ⅱ", phaseWords.PAUSED),
  CANCELLING: warning("–", phaseWords.CANCELLING),
  ACTION_REQUIRED: bad(phaseWords.ACTION_REQUIRED),
  SUCCEEDED: good(phaseWords.SUCCEEDED),
  SUCCEEDED_WITH_WARNINGS: warning("!", phaseWords.SUCCEEDED_WITH_WARNINGS),
  RESOLVED: off(phaseWords.RESOLVED),
  CANCELLED: off(phaseWords.CANCELLED),
  FAILED: bad(phaseWords.FAILED),
};

const ofParts: Record<SubTaskStatus | StageStatus, StatusWords> = {
  PENDING: waiting("Waiting"),
  IN_PROGRESS: running("Running"),
  SUCCESSFUL: good("Done"),
  FAILED: failed,
  NOT_APPLICABLE: off("Not needed"),
};

const endings: Partial<Record<TaskStatus, StatusWords>> = {
  COMPLETED_WITH_WARNING: { tone: "warning", sign: "!", word: "Successful with warnings" },
  SKIPPED: good("Nothing to do"),
};

const ofReasons: Record<ReasonCode, StatusWords> = {
  AT_TARGET: off("At target"),
  NOT_STARTED: off("Not started"),
  EARLIER_PRODUCT_FAILED: off("Not started"),
  NOT_IN_SCOPE: off("Not asked for"),
  HOST_LEFT_CLUSTER: off("Left the cluster"),
  SKIPPED_BY_OPERATOR: { tone: "warning", sign: "!", word: "Left out by an operator" },
  HELD: { tone: "warning", sign: "!", word: "Left out: held" },
  PRECHECK_FAILED: { tone: "warning", sign: "!", word: "Left out: prechecks failed" },
};

/** A part or a stage of a Task; of a part that does not apply, why. */
export const wordsOfPart = (status: SubTaskStatus | StageStatus, reason?: ReasonCode): StatusWords =>
  reason === undefined || status !== "NOT_APPLICABLE" ? ofParts[status] : ofReasons[reason];

/** An upgrade in the list; PENDING where the service did not say. */
export const wordsOfUpgrade = (status: UpgradeStatus = "PENDING"): StatusWords => ofUpgrades[status];

/** Where an upgrade is; WAITING where the service did not say. */
export const wordsOfPublishedPhase = (phase: PublishedPhase = "WAITING"): StatusWords => ofPhases[phase];

/** The phase of one upgrade, of which its Task says more than its status. */
export function wordsOfPhase(status: UpgradeStatus | undefined, task: Task): StatusWords {
  if (status === "DRAFT" && task.status === "In Progress") return running("Draft: prechecks running");
  return endings[task.status] ?? wordsOfUpgrade(status);
}

const statusesAtEnd: Partial<Record<TaskStatus, UpgradeStatus>> = {
  Successful: "COMPLETED_WITH_SUCCESS",
  COMPLETED_WITH_WARNING: "COMPLETED_WITH_SUCCESS",
  SKIPPED: "COMPLETED_WITH_SUCCESS",
  Failed: "COMPLETED_WITH_FAILURE",
  Cancelled: "CANCELLED",
};

/**
 * The status of an upgrade. Its Task comes as events, its own status is read now and then, so where the two disagree the
 * Task is the newer one; only what a Task does not tell (draft, scheduled) is taken as it was read.
 */
export function knownStatus(read: UpgradeStatus | undefined, task: Task): UpgradeStatus | undefined {
  const ending = statusesAtEnd[task.status];
  if (ending) return ending;
  if (task.localizableDescriptionPack?.messageKey === "upgrade.task.paused") return "PAUSED";
  if (task.status === "In Progress") return read === "DRAFT" ? "DRAFT" : "INPROGRESS";
  return read === "DRAFT" || read === "SCHEDULED" ? read : "PENDING";
}

/** A number of things in words: `1 host`, `3 hosts`. */
export function plural(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}

const most = 3;

/** Names for people: `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`. */
export function shortList(names: readonly string[]): string {
  const shown = names.length > most ? [...names.slice(0, most), `${names.length - most} more`] : names;
  const last = shown.at(-1) ?? "";
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(", ")} and ${last}`;
}
