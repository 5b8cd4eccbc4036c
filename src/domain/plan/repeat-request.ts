import type { UpgradeSpec } from "../spec/upgrade-spec";
import type { Schedule } from "./schedule";

/**
 * A request for what an earlier one has asked for. Its times are those of the earlier upgrade: all of it begins when
 * `begin` says.
 */
export function repeatRequest(
  { mgmtUpgradeUserInputSpecs: servers, resourceUpgradeSpecs, draftMode: _before, ...request }: UpgradeSpec,
  { isDraft, begin }: { readonly isDraft: boolean; readonly begin: Schedule },
): UpgradeSpec {
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
