import { proxyActivities } from "@temporalio/workflow";
import type { UpgradeActivities, UpgradeNetvirtComponentInput } from "../activities/contract";
import type { ActivityWaits } from "../src/domain/activity-waits";
import { netvirtComponentNames, NetvirtProgress, type NetvirtComponentResult } from "../src/domain/netvirt-upgrade";
import { runAttached } from "./attached-activity";
import { changeOptions } from "./retry-policy";

const once = { maximumAttempts: 1, retryDelay: 0 };
const activities = proxyActivities<Pick<UpgradeActivities, "upgradeNetvirtComponent">>(changeOptions(once));

/** Upgrades one component, whatever becomes of the workers meanwhile. Throws as {@link runAttached} does. */
export function upgradeNetvirtComponent(
  input: UpgradeNetvirtComponentInput,
  waits: ActivityWaits,
): Promise<NetvirtComponentResult> {
  const { netvirt, component, attempts } = input;
  return runAttached({
    name: `${netvirt.name}: ${netvirtComponentNames[component]}`,
    attempts,
    waits,
    progress: NetvirtProgress,
    reportedFailures: ({ reportedFailures }) => reportedFailures,
    run: (left, again) =>
      activities.upgradeNetvirtComponent.executeWithOptions(
        {
          ...changeOptions(left, waits),
          activityId: `component/${component}`,
          summary: `${netvirt.name}: upgrade ${netvirtComponentNames[component]}`,
        },
        [{ ...input, ...again }],
      ),
  });
}
