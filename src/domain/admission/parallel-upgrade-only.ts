import type { AdmissionRule } from "./admission-rule";

/** Only parallel upgrades are supported (Spec 1); absent means parallel, an explicit `false` cannot be honoured. */
export const parallelUpgradeOnly: AdmissionRule = ({ spec }) =>
  spec.parallelUpgrade !== false
    ? []
    : [
        {
          effect: "NOT_ALLOWED",
          path: "parallelUpgrade",
          code: "ONLY_PARALLEL_UPGRADES",
          message: "Clusters are always upgraded in parallel; parallelUpgrade false is not supported.",
          remediation: "Leave parallelUpgrade out or set it to true; to upgrade clusters in turn, schedule them.",
        },
      ];
