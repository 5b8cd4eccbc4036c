import type { MgmtUpgradeUserInputSpec } from "./upgrade-spec";

/** How a management server is upgraded (Spec 2.4). Without a word on it: by what the other fields are for. */
export function mechanismOf(
  input:
    Pick<MgmtUpgradeUserInputSpec, "upgradeMechanism" | "startSwitchoverTimestamp" | "temporaryNetwork"> | undefined,
): "InPlace" | "ReducedDowntimeMigration" {
  if (input?.upgradeMechanism !== undefined) return input.upgradeMechanism;
  const migrates = input?.startSwitchoverTimestamp !== undefined || input?.temporaryNetwork !== undefined;
  return migrates ? "ReducedDowntimeMigration" : "InPlace";
}
