import { isSameVersion } from "../mgmt-view";
import { type MgmtCheck, mgmtFindings } from "./mgmt-precheck";

/** The update to the target is offered to the appliance. */
export const updateAvailable: MgmtCheck = {
  type: "MGMT_UPDATE_AVAILABLE",
  name: "Update available",
  description: "The management server's update repository offers the target version.",
  needs: ["MGMT_NO_DOWNGRADE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { server, targetVersion } = target;
    if (isSameVersion(await retryPolicy.retry(() => client.readVersion()), targetVersion)) return [];
    const offered = await retryPolicy.retry(() => client.listPendingUpdates());
    if (offered.some((version) => isSameVersion(version, targetVersion))) return [];
    return mgmtFindings(input, [
      {
        code: "MGMT_UPDATE_NOT_OFFERED",
        message: `Management server ${server.name} is offered ${offered.join(", ") || "no update"}, not ${targetVersion}.`,
        remediation: "Add the update to the management server's repository, then run the prechecks again.",
      },
    ]);
  },
};
