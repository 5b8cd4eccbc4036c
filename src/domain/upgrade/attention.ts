import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "../codec";
import { PublishedPhase, type Upgrade, type UpgradeStatus } from "../spec/upgrade";

/** Upgrades that want the same attention of an operator. */
export interface AttentionGroup {
  readonly phases: readonly PublishedPhase[];
  /** Every status that an upgrade in one of these phases can have. */
  readonly statuses: readonly UpgradeStatus[];
  /** How they are sorted among themselves; absent: the newest first. */
  readonly compare?: (a: Upgrade, b: Upgrade) => number;
}

const compareText = (a = "", b = "") => (a < b ? -1 : a > b ? 1 : 0);

/** Those that begin earliest first. */
const byBegin = (a: Upgrade, b: Upgrade) => compareText(a.beginsAt ?? a.createdAt, b.beginsAt ?? b.createdAt);

/** In the order of the list: what needs a decision, what is in work, what begins by itself, drafts, what has ended. */
export const attentionGroups: readonly AttentionGroup[] = [
  { phases: ["ACTION_REQUIRED"], statuses: ["COMPLETED_WITH_FAILURE", "SCHEDULED", "INPROGRESS"] },
  {
    phases: ["RUNNING", "PAUSING", "PAUSED", "CANCELLING", "WAITING"],
    statuses: ["PENDING", "DRAFT", "SCHEDULED", "INPROGRESS", "PAUSED"],
  },
  { phases: ["SCHEDULED"], statuses: ["SCHEDULED"], compare: byBegin },
  { phases: ["DRAFT_PRECHECKS", "DRAFT_READY", "PRECHECKS_FAILED"], statuses: ["DRAFT"] },
  {
    phases: ["SUCCEEDED", "SUCCEEDED_WITH_WARNINGS", "RESOLVED", "CANCELLED", "FAILED"],
    statuses: ["COMPLETED_WITH_SUCCESS", "COMPLETED_WITH_FAILURE", "CANCELLED"],
  },
];

/** Phases of upgrades that are over. */
export const endedPhases: readonly PublishedPhase[] = attentionGroups.at(-1)?.phases ?? [];

/** How the list of upgrades can be sorted. */
export const UpgradeSort = OneOf("attention", "created", "begins", "ended", "name");
export type UpgradeSort = t.TypeOf<typeof UpgradeSort>;

const hasEnded = ({ endTime }: Upgrade) => (endTime === undefined ? 0 : 1);

/** Of those sorts that are not by attention: the newest first, the next to begin, the last to have ended, by name. */
export const comparisons: Readonly<Record<Exclude<UpgradeSort, "attention">, (a: Upgrade, b: Upgrade) => number>> = {
  created: (a, b) => compareText(b.createdAt, a.createdAt),
  begins: (a, b) => hasEnded(a) - hasEnded(b) || byBegin(a, b),
  ended: (a, b) => (b.endTime ?? 0) - (a.endTime ?? 0),
  name: (a, b) => compareText(a.name, b.name),
};

/** How many upgrades are in a phase. */
export const PhaseCount = model({ phase: PublishedPhase, upgrades: WholeNumber }, {});
export type PhaseCount = t.TypeOf<typeof PhaseCount>;

/** How many upgrades there are in each phase; every phase is listed. */
export const UpgradeCounts = model({ total: WholeNumber, phases: t.array(PhaseCount) }, {});
export type UpgradeCounts = t.TypeOf<typeof UpgradeCounts>;
