import { proxyActivities } from "@temporalio/workflow";
import type { RemediateHostInput, UpgradeActivities } from "../activities/contract";
import type { ActivityWaits } from "../src/domain/activity-waits";
import { HostProgress, type HostResult } from "../src/domain/host-remediation";
import { runAttached } from "./attached-activity";
import { changeOptions } from "./retry-policy";

const once = { maximumAttempts: 1, retryDelay: 0 };
const activities = proxyActivities<Pick<UpgradeActivities, "remediateHost">>(changeOptions(once));

/**
 * Upgrades one host. Its Activity attaches to a remediation that still runs, so it may be lost with its worker as often
 * as it likes: only failures that the component manager reports use up attempts (docs/decisions/0004).
 */
export function remediateHost(input: RemediateHostInput, waits: ActivityWaits): Promise<HostResult> {
  const { host, attempts } = input;
  return runAttached({
    name: host.fqdn,
    attempts,
    waits,
    progress: HostProgress,
    reportedFailures: (progress) => (progress.host === host.host ? progress.reportedFailures : 0),
    run: (left, again) =>
      activities.remediateHost.executeWithOptions(
        { ...changeOptions(left, waits), activityId: `remediate/${host.host}`, summary: `${host.fqdn}: remediate` },
        [{ ...input, ...again }],
      ),
  });
}
