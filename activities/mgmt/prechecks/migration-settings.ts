import { missingSettings } from "../migration-spec";
import { type MgmtCheck, mgmtFindings } from "./mgmt-precheck";

/** The inventory says all that a migration needs beside the request. */
export const migrationSettings: MgmtCheck = {
  type: "MGMT_SETTINGS",
  name: "Settings for the migration",
  description: "The inventory has the temporary root password and, for a STATIC network, the DNS servers.",
  needs: [],
  run: (input) => Promise.resolve(mgmtFindings(input, missingSettings(input.target, input.settings))),
};
