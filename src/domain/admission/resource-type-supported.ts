import type { AdmissionRule } from "./admission-rule";

/** Only clusters can be upgraded (Spec 1). */
export const resourceTypeSupported: AdmissionRule = ({ spec }) =>
  spec.resourceType === "CLUSTER"
    ? []
    : [
        {
          effect: "NOT_ALLOWED",
          path: "resourceType",
          code: "RESOURCE_TYPE_NOT_SUPPORTED",
          message: `Resources of type ${spec.resourceType} cannot be upgraded; only CLUSTER can.`,
          remediation: "Name the clusters to upgrade and set resourceType to CLUSTER.",
        },
      ];
