import { proxyActivities } from "@temporalio/workflow";
import type { RemediateHostsInput, UpgradeActivities } from "../activities/contract";
import type { ActivityWaits } from "../src/domain/activity-waits";
import { HostsProgress, type HostsResult } from "../src/domain/hosts-remediation";
import { runAttached } from "./attached-activity";
import { changeOptions } from "./retry-policy";

const once = { maximumAttempts: 1, retryDelay: 0 };
const activities = proxyActivities<Pick<UpgradeActivities, "remediateHosts">>(changeOptions(once));

/**
 * Upgrades several hosts of an image-managed cluster together. The Activity counts attempts for each host on its own,
 * so Temporal allows as many as all the hosts may need.
 */
export function remediateHosts(input: RemediateHostsInput, waits: ActivityWaits): Promise<HostsResult> {
  const { hosts, attempts, cluster } = input;
  const [first] = hosts;
  const maximumAttempts = attempts.maximumAttempts * hosts.length;
  return runAttached({
    name: `${cluster.name}: ${hosts.length} hosts`,
    attempts: { ...attempts, maximumAttempts },
    waits,
    progress: HostsProgress,
    reportedFailures: ({ failures }) => failures.reduce((sum, count) => sum + count, 0),
    run: (left, again) =>
      activities.remediateHosts.executeWithOptions(
        {
          ...changeOptions(left, waits),
          activityId: `remediate-hosts/${first?.host ?? ""}`,
          summary: `${hosts.length} hosts from ${first?.fqdn ?? ""}: remediate together`,
        },
        [{ ...input, ...again }],
      ),
  });
}
