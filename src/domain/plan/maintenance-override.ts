import type { ErrorBody } from "../errors";
import type { MaintenancePlace } from "../opening";
import type { MaintenanceOverride } from "../spec/maintenance-override";
import type { UpgradeSpec } from "../spec/upgrade-spec";
import type { UpgradePlan } from "./upgrade-plan";

/** The plan with an override, in the request that it shows as well as in what it does. The first one stays. */
export function overrideMaintenance(plan: UpgradePlan, maintenanceOverride: MaintenanceOverride): UpgradePlan {
  if (plan.maintenanceOverride) return plan;
  return {
    ...plan,
    maintenanceOverride,
    spec: { ...plan.spec, maintenanceWindow: "IGNORE" },
    products: plan.products.map((product) => ({
      ...product,
      resources: product.resources.map((one) => ({ ...one, places: ignoreCalendar(one.places) })),
    })),
  };
}

/** The same places, of which neither windows nor change freezes count. */
export function ignoreCalendar(places: readonly MaintenancePlace[]): readonly MaintenancePlace[] {
  return places.map((place) => ({ ...place, ignoresCalendar: true }));
}

/** Whoever overrides says why. */
export function overrideProblem({
  maintenanceWindow,
  reason,
}: Pick<UpgradeSpec, "maintenanceWindow" | "reason">): ErrorBody | undefined {
  if (maintenanceWindow === undefined || reason !== undefined) return undefined;
  return {
    errorCode: "OVERRIDE_WITHOUT_REASON",
    errorType: "INVALID_INPUT",
    message: "maintenanceWindow IGNORE needs a reason.",
    remediationMessage: "Add a reason that others can read, or remove maintenanceWindow.",
    context: { path: "reason" },
  };
}

/** The same of a commit, which takes a reason for nothing else. */
export function commitOverrideProblem(
  commit: Pick<UpgradeSpec, "maintenanceWindow" | "reason">,
): ErrorBody | undefined {
  if (commit.maintenanceWindow !== undefined || commit.reason === undefined) return overrideProblem(commit);
  return {
    errorCode: "INVALID_FIELD",
    errorType: "INVALID_INPUT",
    message: "reason: a commit has one only with maintenanceWindow.",
    remediationMessage: "Remove reason, or add maintenanceWindow IGNORE.",
    context: { path: "reason" },
  };
}
