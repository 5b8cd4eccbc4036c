// expect TS2322
import type { ResourceUpgradeSpec } from "../../../../src/domain/spec/upgrade-spec";

export const resource: ResourceUpgradeSpec = { upgradeNow: true };
