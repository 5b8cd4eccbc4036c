import { checkMigration } from "../check-migration";
import { isSameVersion, offeredVersion, readMigrationView } from "../mgmt-view";
import { migrationSpec } from "../migration-spec";
import { type MgmtCheck, mgmtFindings } from "./mgmt-precheck";

/** The management server's own check of the migration finds no error. */
export const migrationCheck: MgmtCheck = {
  type: "MGMT_MIGRATION_CHECK",
  name: "Migration check",
  description: "The management server's own check of the migration finds no error.",
  needs: ["MGMT_NO_DOWNGRADE", "MGMT_NO_UPDATE_IN_PROGRESS", "MGMT_SETTINGS"],
  run: async (input) => {
    const { target, client, retryPolicy, settings } = input;
    const { version, migration } = await retryPolicy.retry(() => readMigrationView(client));
    // Once it is under way its new appliance has the temporary address itself, and would be found in the way.
    const underWay = ["STAGING", "STAGED", "PREPARING", "PREPARED"].includes(migration.current_state ?? "");
    if (isSameVersion(version, target.targetVersion) || underWay) return [];
    const targetVersion = await offeredVersion(client, retryPolicy, target.targetVersion);
    const issues = await checkMigration(client, retryPolicy, migrationSpec({ ...target, targetVersion }, settings));
    return mgmtFindings(
      input,
      issues.map((issue) => ({
        code: "MGMT_CHECK_FAILED",
        message: `The management server's own check of the migration: ${issue}`,
        remediation: "Resolve what the check reports, then run the prechecks again.",
      })),
    );
  },
};
