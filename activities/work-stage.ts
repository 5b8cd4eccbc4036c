import type { FindingKey } from "../src/domain/task/findings";

/**
 * Where the work of an Activity stands, which decides what an answer means (docs/failures.md, Outages). FIRST_CONTACT: nothing
 * has been begun, and an answer is taken as it is. IN_WORK: something of the upgrade is in work or has been changed, so that
 * what a manager that is unwell for a moment could have answered is waited out. It belongs to the Activity and not to the
 * process, so that a worker that starts anew knows it as well.
 */
export type WorkStage = "FIRST_CONTACT" | "IN_WORK";

/** How prechecks are run. */
export interface PrecheckOptions {
  /** FIRST_CONTACT where nothing is said. */
  readonly stage?: WorkStage;
  /** Findings that an operator has acknowledged: a check with no others does not keep those from being made that need it. */
  readonly acknowledged?: readonly FindingKey[];
}
