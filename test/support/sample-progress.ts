import type { RemediationProgress } from "../../src/domain/task/host-remediation";

const at = "2026-11-01T00:00:00.000Z";

/** What `remediateHosts` knows of one host that is being looked at for the first time, but for `more`. */
export function sampleProgress(more: Partial<RemediationProgress> = {}): RemediationProgress {
  return {
    kind: "IMAGE",
    activity: "Starting.",
    phases: "w",
    failures: [0],
    failed: [],
    began: at,
    entered: {},
    ...more,
  };
}
