// expect TS2322
import type { ResourceUpgradeSpec } from "../../../src/domain/upgrade-spec";

export const resource: ResourceUpgradeSpec = { upgradeNow: true };
