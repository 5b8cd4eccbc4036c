import type { ErrorBody } from "../../src/domain/error-body";
import type { ClusterTarget } from "../contract";
import { bounded } from "../drivers/driver-error";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { Patience } from "../patience";
import type { Check } from "./run-checks";

/** What every check works with. Nothing that a check does may change the cluster. */
export interface PrecheckInput {
  readonly target: ClusterTarget;
  readonly client: VlcmClient;
  readonly patience: Patience;
}

export type PrecheckType =
  | "COMPONENT_MANAGER_REACHABLE"
  | "CLUSTER_IMAGE_MANAGED"
  | "HOSTS_CONNECTED"
  | "NO_OPERATION_IN_PROGRESS"
  | "TARGET_IMAGE_AVAILABLE"
  | "NO_DOWNGRADE"
  | "CLUSTER_HEALTH";

/** One condition that must hold before a cluster is touched. */
export type Precheck = Check<PrecheckType, PrecheckInput>;

/** Errors that one check reports at most; a cluster where more is wrong needs no longer list to be looked at. */
const maximumErrors = 20;

interface Finding {
  readonly code: string;
  readonly message: string;
  readonly remediation: string;
  readonly context?: Readonly<Record<string, string>>;
}

/** Findings as the errors of a Stage, with the cluster in their context. */
export function findingsOf({ target, client }: PrecheckInput, findings: readonly Finding[]): ErrorBody[] {
  return findings.slice(0, maximumErrors).map(({ code, message, remediation, context }) => ({
    errorCode: code,
    errorType: "FAILED_DEPENDENCY",
    message: bounded(message, 500),
    remediationMessage: remediation,
    context: { cluster: target.cluster.name, componentManager: client.id, ...context },
  }));
}
