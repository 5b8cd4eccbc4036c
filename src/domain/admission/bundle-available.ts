import { isNone } from "fp-ts/Option";
import type { AdmissionRule } from "./admission-rule";

/** The bundle is known, downloaded and not recalled. */
export const bundleAvailable: AdmissionRule = ({ spec, bundle }) => {
  const refuse = (code: string, message: string, remediation: string) => [
    { effect: "FAILED_DEPENDENCY", path: "bundleId", code, message, remediation } as const,
  ];
  if (isNone(bundle)) {
    return refuse(
      "BUNDLE_UNKNOWN",
      `Bundle ${spec.bundleId} is not in the catalog.`,
      "Name a bundle of the catalog, or have the catalog file include this one.",
    );
  }
  const { downloadStatus = "PENDING" } = bundle.value;
  if (downloadStatus === "RECALLED") {
    return refuse(
      "BUNDLE_RECALLED",
      `Bundle ${spec.bundleId} has been recalled by its vendor.`,
      "Choose a newer bundle.",
    );
  }
  if (downloadStatus !== "SUCCESSFUL") {
    return refuse(
      "BUNDLE_NOT_DOWNLOADED",
      `Bundle ${spec.bundleId} is not downloaded (its download is ${downloadStatus}).`,
      "Download the bundle, then send the request again.",
    );
  }
  return [];
};
