import { toEpochMilliseconds } from "./timestamp";
import type { Upgrade } from "./upgrade";
import { firstPhase } from "./upgrade-schedule";
import type { UpgradePlan } from "./upgrade-plan";
import { hasEnded, statusOfPhase, type UpgradePhase } from "./upgrade-status";

/** The Upgrade (Spec 2.6) of a plan in a phase. `at` is when the phase was entered; it is the end time where it ends. */
export function upgradeView(plan: UpgradePlan, phase?: UpgradePhase, at?: string): Upgrade {
  const { id, spec, bundle } = plan;
  const current = phase ?? firstPhase(plan);
  const netvirt = spec.netvirtUpgradeUserInputSpecs?.[0];
  return {
    id,
    bundleId: spec.bundleId,
    resourceType: spec.resourceType,
    parallelUpgrade: true,
    resourceUpgradeSpecs: spec.resourceUpgradeSpecs,
    status: statusOfPhase(current).upgrade,
    taskId: id,
    ...(netvirt && { netvirtUpgradeUserInputSpec: netvirt }),
    bundle,
    ...(hasEnded(current) && at !== undefined && { endTime: toEpochMilliseconds(at) }),
  };
}
