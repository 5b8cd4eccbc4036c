import { some } from "fp-ts/Option";
import { bundleObstacle } from "../src/domain/admission/bundle-available";
import type { ActivityDependencies } from "./activity-dependencies";
import { runActivity } from "./activity-run";
import type { BundleCheck } from "./contract";

/**
 * Whether the bundle of an upgrade may still be installed, by the catalog as it is at this moment. One that has left the
 * catalog may: its upgrade was accepted with all that it needs, and a worker elsewhere may have another catalog.
 */
export function checkBundle(
  readBundle: ActivityDependencies["readBundle"],
  { bundleId, upgradeId }: { readonly bundleId: string; readonly upgradeId: string },
): Promise<BundleCheck> {
  return runActivity({ context: { bundleId }, upgradeId }, () => {
    const bundle = readBundle?.(bundleId);
    const obstacle = bundle && bundleObstacle(bundleId, some(bundle));
    if (!obstacle) return Promise.resolve({});
    const { code, message, remediation } = obstacle;
    const context = { bundleId };
    const told = { errorCode: code, message, remediationMessage: remediation, context };
    return Promise.resolve({ error: { ...told, errorType: "FAILED_DEPENDENCY" } });
  });
}
