import { toEpochMilliseconds } from "./timestamp";
import type { Upgrade } from "./upgrade";
import { notBefore, saysWhen, type CommitSpec } from "./upgrade-schedule";

/**
 * Whether a scheduled upgrade is asked for what it will do anyway: nothing about time, or the time that all of its
 * resources have already. Such a request is not sent: each one that is makes the history longer.
 */
export function changesNothing(commit: CommitSpec, { status, resourceUpgradeSpecs }: Upgrade): boolean {
  if (status !== "SCHEDULED" || commit.mgmtUpgradePatchSpecs !== undefined) return false;
  if (!saysWhen(commit)) return true;
  const wanted = momentOf(commit);
  return wanted !== undefined && resourceUpgradeSpecs?.every((known) => momentOf(known) === wanted) === true;
}

/** Epoch milliseconds; undefined means at once. */
function momentOf(schedule: CommitSpec): number | undefined {
  const at = notBefore(schedule);
  return at === undefined ? undefined : toEpochMilliseconds(at);
}
