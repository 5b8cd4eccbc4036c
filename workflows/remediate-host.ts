import { proxyActivities } from "@temporalio/workflow";
import type { RemediateHostInput, UpgradeActivities } from "../activities/contract";
import { HostProgress, type HostResult } from "../src/domain/host-remediation";
import { runResumable } from "./resumable-activity";
import { changeOptions } from "./retry-policy";

const once = { maximumAttempts: 1, retryDelay: 0 };
const activities = proxyActivities<Pick<UpgradeActivities, "remediateHost">>(changeOptions(once));

/** Upgrades one host, as often as its attempts allow; where its Activity is lost, it attaches to what still runs. */
export function remediateHost(input: RemediateHostInput): Promise<HostResult> {
  const { host } = input;
  return runResumable({
    input,
    progress: HostProgress,
    name: host.fqdn,
    run: (resumed: RemediateHostInput, options) =>
      activities.remediateHost.executeWithOptions(
        { ...options, activityId: `remediate/${host.host}`, summary: `${host.fqdn}: remediate` },
        [resumed],
      ),
  });
}
