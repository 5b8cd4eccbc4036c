// expect TS2375
import type { ResourceUpgradeSpec } from "../../../../src/domain/spec/upgrade-spec";

export const resource: ResourceUpgradeSpec = { resourceId: "cluster-1", toVersion: undefined };
