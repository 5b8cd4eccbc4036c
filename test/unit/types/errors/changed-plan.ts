// expect TS2540
import type { UpgradePlan } from "../../../../src/domain/plan/upgrade-plan";

export function rename(plan: UpgradePlan): void {
  plan.id = "another";
}
