import type { ActivityDependencies } from "../activity-dependencies";
import { activityRetryPolicy, pacedRetry, runActivity, shortBounds } from "../activity-run";
import { DriverError } from "../drivers/driver-error";
import type { MgmtActivities } from "../mgmt-contract";
import { runMgmtPrechecks } from "./mgmt-prechecks";
import { mgmtContext, mgmtServers, runMgmtStep } from "./mgmt-step";
import { isSameVersion } from "./mgmt-view";
import { prepareMigration } from "./prepare-migration";
import { cancelMigration, switchOver } from "./switch-over";
import { installUpdate, stageUpdate } from "./update";

/** The Activities of management servers. */
export function createMgmtActivities(dependencies: ActivityDependencies): MgmtActivities {
  const { limits } = dependencies;
  const serverOf = mgmtServers(dependencies);
  const step = { serverOf, closures: dependencies, limits };
  return {
    runMgmtPrechecks: (input) => runMgmtPrechecks(step, input),
    readMgmtServer: (target) =>
      runActivity({ context: mgmtContext(target), failure: pacedRetry }, async () => {
        const { client } = serverOf(target);
        const version = await activityRetryPolicy(shortBounds(limits)).retry(() => client.readVersion());
        return { fqdn: client.fqdn, version, atTarget: isSameVersion(version, target.targetVersion) };
      }),
    stageMgmtUpdate: (input) => runMgmtStep(step, input, stageUpdate),
    installMgmtUpdate: (input) => runMgmtStep(step, input, installUpdate),
    prepareMgmtMigration: (input) => runMgmtStep(step, input, prepareMigration),
    switchOverMgmtMigration: (input) => runMgmtStep(step, input, switchOver),
    cancelMgmtMigration: (target) => {
      let activity = "Cancelling the migration.";
      return runActivity(
        {
          context: mgmtContext(target),
          heartbeat: () => ({ reportedFailures: 0, activity }),
          // Giving up leaves half an appliance behind, and what refuses us can be put right.
          failure: (error) => ({
            retryable: !(error instanceof DriverError && error.code === "MGMT_MIGRATION_NOT_CANCELLED"),
          }),
        },
        (beat) => {
          const { client } = serverOf(target);
          const { targetVersion, server } = target;
          const note = (text: string) => {
            activity = text;
            beat();
          };
          const retryPolicy = activityRetryPolicy(limits, (error) => note(`Waiting: ${error.message}`));
          return cancelMigration({ client, retryPolicy, target: targetVersion, name: server.name, limits, note });
        },
      );
    },
  };
}
