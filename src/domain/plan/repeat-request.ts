import type { UpgradeSpec } from "../spec/upgrade-spec";
import type { Schedule } from "./schedule";

/**
 * A request for what an earlier one has asked for, without what was said of that time: all of it begins when `begin` says,
 * and it is another change, for a reason of its own.
 */
export function repeatRequest(
  earlier: UpgradeSpec,
  { isDraft, begin }: { readonly isDraft: boolean; readonly begin: Schedule },
): UpgradeSpec {
  const { mgmtUpgradeUserInputSpecs: servers, resourceUpgradeSpecs, ...rest } = earlier;
  const { draftMode: _draft, reason: _reason, changeId: _change, maintenanceWindow: _ignored, ...request } = rest;
  return {
    ...request,
    resourceUpgradeSpecs: resourceUpgradeSpecs.map(({ scheduledTimestamp: _at, upgradeNow: _now, ...one }) => ({
      ...one,
      ...begin,
    })),
    ...(servers && {
      mgmtUpgradeUserInputSpecs: servers.map(({ startSwitchoverTimestamp: _time, ...one }) => one),
    }),
    ...(isDraft && { draftMode: true }),
  };
}
