import { proxyActivities } from "@temporalio/workflow";
import type { HostsInTurn, RemediateHostInput, UpgradeActivities } from "../activities/contract";
import type { PlannedWaits } from "../src/domain/activity-waits";
import { HostProgress } from "../src/domain/host-remediation";
import { toTimestamp } from "../src/domain/timestamp";
import { runAttached } from "./attached-activity";
import { changeOptions } from "./retry-policy";

const once = { maximumAttempts: 1, retryDelay: 0 };
const activities = proxyActivities<Pick<UpgradeActivities, "remediateHost">>(changeOptions(once));

/**
 * Upgrades one host, and those that follow for as long as they take but moments. Its Activity attaches to a remediation
 * that still runs, so it may be lost with its worker as often as it likes: only failures that the component manager
 * reports use up attempts (docs/decisions/0004). `input.resume`: what another Activity has begun of the host.
 */
export function remediateHost(input: RemediateHostInput, waits: PlannedWaits | undefined): Promise<HostsInTurn> {
  const { host, attempts } = input;
  const since = toTimestamp(Date.now());
  return runAttached({
    name: host.fqdn,
    attempts,
    waits,
    resume: input.resume,
    progress: HostProgress,
    reportedFailures: (progress) => (progress.host === host.host ? progress.reportedFailures : 0),
    run: (left, resume, stop, lost) =>
      activities.remediateHost.executeWithOptions(
        { ...changeOptions(left, waits), activityId: `remediate/${host.host}`, summary: `${host.fqdn}: remediate` },
        [{ ...input, ...(resume && { resume }), ...(stop && { stop: true }), ...(lost && { lostSince: since }) }],
      ),
  });
}
