// expect TS2820
import type { UpgradeSpec } from "../../../../src/domain/spec/upgrade-spec";

export const spec: UpgradeSpec = {
  bundleId: "bundle-1",
  resourceType: "CLUSTERS",
  resourceUpgradeSpecs: [{ resourceId: "cluster-1" }],
};
