import { compareVersions } from "../../../src/domain/version";
import { isVersion } from "../read-netvirt-upgrade";
import { findingsOf, type NetvirtPrecheck } from "./netvirt-precheck";

/** The upgrade coordinator is there for the target version, and the instance is not newer. */
export const targetOffered: NetvirtPrecheck = {
  type: "NETVIRT_TARGET_OFFERED",
  name: "Target version offered",
  description: "The upgrade coordinator has the bundle of the target version and is itself upgraded by it.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const {
      system_version: now = "",
      target_version: offered,
      ...summary
    } = await retryPolicy.retry(() => client.readSummary());
    if (now !== "" && compareVersions(now, target.targetVersion) > 0) {
      return findingsOf(input, [
        {
          code: "NETVIRT_NEWER_THAN_TARGET",
          message: `${target.netvirt.name} has version ${now}, which is newer than ${target.targetVersion}.`,
          remediation: "Choose a bundle that is at least as new as the NETVIRT instance.",
          context: { version: now },
        },
      ]);
    }
    if (!isVersion(offered, target.targetVersion)) {
      // What is there already needs no coordinator; nodes that are not are found when the plan is read.
      if (isVersion(now, target.targetVersion)) return [];
      return findingsOf(input, [
        {
          code: "NETVIRT_TARGET_NOT_OFFERED",
          message: `The upgrade coordinator of ${target.netvirt.name} is there for ${offered ?? "no version"}, not for ${target.targetVersion}.`,
          remediation: `Upload the bundle of ${target.targetVersion} to the NETVIRT manager and upgrade its coordinator, then run the prechecks again.`,
          ...(offered !== undefined && { context: { offered } }),
        },
      ]);
    }
    if (summary.upgrade_coordinator_updated !== false) return [];
    return findingsOf(input, [
      {
        code: "NETVIRT_COORDINATOR_OUTDATED",
        message: `The upgrade coordinator of ${target.netvirt.name} (${summary.upgrade_coordinator_version ?? "unknown version"}) is not upgraded yet.`,
        remediation: "Upgrade the coordinator in the NETVIRT manager, then run the prechecks again.",
      },
    ]);
  },
};
