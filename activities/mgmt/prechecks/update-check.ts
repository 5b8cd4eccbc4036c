import { isSameVersion, offeredVersion } from "../mgmt-view";
import { findingsOfUpdate } from "../update-questions";
import { type MgmtCheck, mgmtFindings } from "./mgmt-precheck";

/** The appliance's own check of the update finds no error, and its questions are answered. */
export const updateCheck: MgmtCheck = {
  type: "MGMT_UPDATE_CHECK",
  name: "Update check",
  description: "The management server's own check of the update finds no error, and all of its questions are answered.",
  needs: ["MGMT_NO_UPDATE_IN_PROGRESS", "MGMT_UPDATE_AVAILABLE"],
  run: async (input) => {
    const { target, client, retryPolicy, settings } = input;
    if (isSameVersion(await retryPolicy.retry(() => client.readVersion()), target.targetVersion)) return [];
    const offered = await offeredVersion(client, retryPolicy, target.targetVersion);
    const precheck = await retryPolicy.retry(() => client.precheckUpdate(offered));
    return mgmtFindings(input, findingsOfUpdate(target.server.name, precheck, settings));
  },
};
