// expect TS2540
import type { UpgradePlan } from "../../../src/domain/upgrade-plan";

export function rename(plan: UpgradePlan): void {
  plan.id = "another";
}
