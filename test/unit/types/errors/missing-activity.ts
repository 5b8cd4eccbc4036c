// expect TS2739
import type { UpgradeActivities } from "../../../../activities/contract";

type WithoutRestore = Omit<UpgradeActivities, "restoreRemediationPolicy" | "remediateHosts">;

export const register = (activities: WithoutRestore): UpgradeActivities => activities;
