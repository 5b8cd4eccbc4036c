import { proxyActivities } from "@temporalio/workflow";
import type { UpgradeActivities } from "../activities/contract";
import type { ErrorBody } from "../src/domain/error-body";
import type { UpgradePlan } from "../src/domain/upgrade-plan";
import { readOptions } from "./retry-policy";
import { untilAnswered } from "./until-answered";

const reads = proxyActivities<Pick<UpgradeActivities, "checkBundle">>(readOptions());

/**
 * Asks a worker whether the bundle of an upgrade may still be installed: it may have been recalled since the upgrade was
 * accepted. Gives the error that says why not, or none.
 */
export async function checkBundle({ id, bundle, waits }: UpgradePlan): Promise<readonly ErrorBody[]> {
  const options = { ...readOptions(waits), summary: `may bundle ${bundle.id} still be installed?` };
  const { error } = await untilAnswered(waits, () =>
    reads.checkBundle.executeWithOptions(options, [{ bundleId: bundle.id, upgradeId: id }]),
  );
  return error ? [error] : [];
}
