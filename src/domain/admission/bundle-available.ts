import { isNone, type Option } from "fp-ts/Option";
import type { Bundle } from "../bundle";
import type { AdmissionRule } from "./admission-rule";

/** Why a bundle cannot be installed now. */
interface BundleObstacle {
  readonly code: string;
  readonly message: string;
  readonly remediation: string;
}

/** The bundle is known, downloaded and not recalled. */
export const bundleAvailable: AdmissionRule = ({ spec, bundle }) => {
  const obstacle = bundleObstacle(spec.bundleId, bundle);
  return obstacle ? [{ effect: "FAILED_DEPENDENCY", path: "bundleId", ...obstacle }] : [];
};

/** Why a bundle, as the catalog has it now, cannot be installed; undefined where it can. */
export function bundleObstacle(bundleId: string, bundle: Option<Bundle>): BundleObstacle | undefined {
  if (isNone(bundle))
    return {
      code: "BUNDLE_UNKNOWN",
      message: `Bundle ${bundleId} is not in the catalog.`,
      remediation: "Name a bundle of the catalog, or have the catalog file include this one.",
    };
  const { downloadStatus = "PENDING" } = bundle.value;
  if (downloadStatus === "RECALLED")
    return {
      code: "BUNDLE_RECALLED",
      message: `Bundle ${bundleId} has been recalled by its vendor.`,
      remediation: "Choose a newer bundle.",
    };
  if (downloadStatus === "SUCCESSFUL") return undefined;
  return {
    code: "BUNDLE_NOT_DOWNLOADED",
    message: `Bundle ${bundleId} is not downloaded (its download is ${downloadStatus}).`,
    remediation: "Download the bundle, then send the request again.",
  };
}
