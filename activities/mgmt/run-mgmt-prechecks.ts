import type { Stage } from "../../src/domain/task";
import { isOutage, precheckRetryPolicy, runActivity, pacedRetry } from "../activity-run";
import type { AtStage } from "../contract";
import type { MgmtPrecheckInput, MgmtPrechecks } from "../mgmt-contract";
import { runChecks } from "../prechecks/run-checks";
import { type MgmtDependencies, mgmtContext } from "./mgmt-step";
import type { MgmtCheck } from "./prechecks/mgmt-precheck";
import { migrationCheck } from "./prechecks/migration-check";
import { migrationSettings } from "./prechecks/migration-settings";
import { noMgmtDowngrade } from "./prechecks/no-mgmt-downgrade";
import { noUpdateInProgress } from "./prechecks/no-update-in-progress";
import { serverReachable } from "./prechecks/server-reachable";
import { updateAvailable } from "./prechecks/update-available";
import { updateCheck } from "./prechecks/update-check";

/** All checks of each mechanism, in an order in which every one comes after those that it needs. */
const prechecks: Record<MgmtPrecheckInput["mechanism"], readonly MgmtCheck[]> = {
  InPlace: [serverReachable, noMgmtDowngrade, noUpdateInProgress, updateAvailable, updateCheck],
  ReducedDowntimeMigration: [serverReachable, noMgmtDowngrade, noUpdateInProgress, migrationSettings, migrationCheck],
};

/**
 * Runs every check of a management server, whatever the others find, and gives one Stage each. Only the Activity's own
 * end (cancelled, Worker stopped, management server not in the inventory) throws.
 */
export function runMgmtPrechecks(
  { serverOf, limits }: MgmtDependencies,
  target: MgmtPrecheckInput & AtStage,
): Promise<MgmtPrechecks> {
  const context = mgmtContext(target);
  const stages: Stage[] = [];
  return runActivity({ context, heartbeat: () => ({ stages: [...stages] }), failure: pacedRetry }, async (beat) => {
    const { client, settings } = serverOf(target);
    const retryPolicy = precheckRetryPolicy(limits, target);
    const input = { target, client, settings, retryPolicy };
    const onStage = (stage: Stage) => {
      stages.push(stage);
      beat();
    };
    await runChecks({
      checks: prechecks[target.mechanism],
      input,
      context,
      onStage,
      isOutage: (error) => isOutage(retryPolicy, limits, error),
    });
    return { stages };
  });
}
