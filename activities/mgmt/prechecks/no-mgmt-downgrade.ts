import { compareVersions } from "../../../src/domain/version";
import { type MgmtCheck, mgmtFindings } from "./mgmt-precheck";

/** The management server is not newer than the target: it cannot go back. */
export const noMgmtDowngrade: MgmtCheck = {
  type: "MGMT_NO_DOWNGRADE",
  name: "No downgrade",
  description: "The management server has no newer version than the target.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const version = await retryPolicy.retry(() => client.readVersion());
    if (compareVersions(version, target.targetVersion) <= 0) return [];
    return mgmtFindings(input, [
      {
        code: "MGMT_NEWER_THAN_TARGET",
        message: `Management server ${target.server.name} has version ${version}, which is newer than ${target.targetVersion}.`,
        remediation: "Choose a bundle that is at least as new as the management server.",
        context: { version },
      },
    ]);
  },
};
