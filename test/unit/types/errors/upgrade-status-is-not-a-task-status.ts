// expect TS2820
import type { UpgradeStatus } from "../../../../src/domain/spec/upgrade";

export const status: UpgradeStatus = "In Progress";
