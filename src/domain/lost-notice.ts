import { lostError, type LostBecause } from "./lost-upgrade";
import { noticeErrors, noticeId, type UpgradeNotice } from "./upgrade-notice";
import { statusOfPhase } from "./upgrade-status";

/** The notification of an upgrade that ended without a word, after the latest one that it told. `time` is a Timestamp. */
export function lostNotice(latest: UpgradeNotice, reason: LostBecause, time: string): UpgradeNotice {
  const { upgradeId, name, bundleId } = latest.data;
  const sequence = latest.sequence + 1;
  const { task: taskStatus, upgrade: status } = statusOfPhase("FAILED");
  const errors = noticeErrors([lostError(reason)]);
  return {
    id: noticeId(upgradeId, sequence),
    sequence,
    type: "upgrade.lost",
    time,
    data: { upgradeId, name, bundleId, status, taskStatus, errors },
  };
}
