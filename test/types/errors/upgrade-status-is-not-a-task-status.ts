// expect TS2820
import type { UpgradeStatus } from "../../../src/domain/upgrade-status";

export const status: UpgradeStatus = "In Progress";
