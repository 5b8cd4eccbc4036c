import type { ErrorBody } from "../../../src/domain/error-body";
import { errorBodyOf } from "../../failures";
import { mgmtContext } from "../mgmt-step";
import { brokenUpdate, isForeign, isSameVersion, readMigrationView, readUpdateView } from "../mgmt-view";
import { otherStaged } from "../stage-update";
import { type MgmtCheck, mgmtFindings } from "./mgmt-precheck";

const running = new Set(["STAGE_IN_PROGRESS", "INSTALL_IN_PROGRESS"]);

/** Nobody else's update or migration is under way, and none has left the appliance broken. */
export const noUpdateInProgress: MgmtCheck = {
  type: "MGMT_NO_UPDATE_IN_PROGRESS",
  name: "No other update in progress",
  description: "No other update or migration of the management server is under way, and none has failed for good.",
  needs: ["COMPONENT_MANAGER_REACHABLE"],
  run: async (input) => {
    const { target, client, retryPolicy } = input;
    const { server, targetVersion, mechanism } = target;
    const view = await retryPolicy.retry(() => readUpdateView(client));
    const broken = brokenUpdate(server.name, view);
    if (broken) return [errorBodyOf(broken.error, mgmtContext(target))];
    const found: ErrorBody[] = [];
    const { update, staged } = view;
    if (running.has(update.state))
      found.push(...mgmtFindings(input, [busy(server.name, `An update is ${update.state}`)]));
    else if (mechanism === "InPlace" && staged?.staging_complete && !isSameVersion(staged.version, targetVersion)) {
      found.push(errorBodyOf(otherStaged(server.name, staged.version), mgmtContext(target)));
    }
    const { migration } = await retryPolicy.retry(() => readMigrationView(client));
    const { current_state: state } = migration;
    const isSet = state !== undefined && state !== "CANCELED" && state !== "UPGRADED";
    // A migration to the target is one that an earlier attempt has left: it is gone on with.
    if (isSet && (mechanism === "InPlace" || isForeign(migration, targetVersion)))
      found.push(...mgmtFindings(input, [busy(server.name, `A migration is ${state}`)]));
    return found;
  },
};

function busy(server: string, what: string) {
  return {
    code: "MGMT_BUSY",
    message: `${what} on management server ${server}.`,
    remediation: "Wait for it to end or cancel it in the management server, then run the prechecks again.",
  };
}
