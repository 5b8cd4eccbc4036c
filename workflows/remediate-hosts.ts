import { proxyActivities } from "@temporalio/workflow";
import type { RemediateHostsInput, UpgradeActivities } from "../activities/contract";
import type { ActivityWaits } from "../src/domain/activity-waits";
import { RemediationProgress, type RemediationResult } from "../src/domain/remediation-progress";
import { runAttached } from "./attached-activity";
import { changeOptions } from "./retry-policy";

const once = { maximumAttempts: 1, retryDelay: 0 };
const activities = proxyActivities<Pick<UpgradeActivities, "remediateHosts">>(changeOptions(once));

/**
 * Upgrades one host, or several together. Their Activity attaches to a remediation that still runs, so it may be lost with
 * its worker as often as it likes: only failures that the component manager reports use up attempts
 * (docs/decisions/0004). It counts attempts for each host on its own, so Temporal allows as many as all may need.
 */
export function remediateHosts(input: RemediateHostsInput, waits: ActivityWaits): Promise<RemediationResult> {
  const { hosts, attempts, cluster } = input;
  const { host = "", fqdn = "" } = hosts[0] ?? {};
  const isOne = hosts.length === 1;
  const summary = isOne ? `${fqdn}: remediate` : `${hosts.length} hosts from ${fqdn}: remediate together`;
  return runAttached({
    name: isOne ? fqdn : `${cluster.name}: ${hosts.length} hosts`,
    attempts: { ...attempts, maximumAttempts: attempts.maximumAttempts * hosts.length },
    waits,
    progress: RemediationProgress,
    reportedFailures: ({ failures }) => failures.reduce((sum, count) => sum + count, 0),
    run: (left, again) =>
      activities.remediateHosts.executeWithOptions(
        { ...changeOptions(left, waits), activityId: `remediate/${host}`, summary },
        [{ ...input, ...again }],
      ),
  });
}
