import type { ErrorBody } from "../../src/domain/error-body";
import type { ClusterTarget } from "../contract";
import { bounded } from "../drivers/driver-error";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import type { HostMaintenance } from "../hostos/host-maintenance";
import type { RetryPolicy } from "../retry-policy";
import type { Check } from "./run-checks";

/** What every check works with. Nothing that a check does may change the cluster. */
export interface AnyPrecheckInput {
  readonly target: ClusterTarget;
  readonly client: { readonly id: string };
  readonly retryPolicy: RetryPolicy;
}

/** What checks of image-managed clusters work with. */
export interface PrecheckInput extends AnyPrecheckInput {
  readonly client: VlcmClient;
  readonly maintenance: HostMaintenance;
}

export type PrecheckType =
  | "COMPONENT_MANAGER_REACHABLE"
  | "CLUSTER_IMAGE_MANAGED"
  | "HOSTS_CONNECTED"
  | "NO_OPERATION_IN_PROGRESS"
  | "TARGET_IMAGE_AVAILABLE"
  | "NO_DOWNGRADE"
  | "CLUSTER_HEALTH"
  | "CLUSTER_BASELINE_MANAGED"
  | "NO_HOST_IN_MAINTENANCE_MODE"
  | "TARGET_PATCH_AVAILABLE"
  | "HOSTS_CAN_BE_EMPTIED";

/** One condition that must hold before a cluster is touched; `I` is what clusters of its kind are checked with. */
export type Precheck<I extends AnyPrecheckInput = PrecheckInput> = Check<PrecheckType, I>;

/** Errors that one check reports at most; a cluster where more is wrong needs no longer list to be looked at. */
const maximumErrors = 20;

/** One reason why a condition does not hold. */
export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly remediation: string;
  readonly context?: Readonly<Record<string, string>>;
}

/** Findings as the errors of a Stage, with the cluster in their context. */
export function findingsOf({ target, client }: AnyPrecheckInput, findings: readonly Finding[]): ErrorBody[] {
  return errorsOf({ cluster: target.cluster.name, componentManager: client.id }, findings);
}

/** Findings as the errors of a Stage; `about` says which resource they are about. */
export function errorsOf(about: Readonly<Record<string, string>>, findings: readonly Finding[]): ErrorBody[] {
  return findings.slice(0, maximumErrors).map(({ code, message, remediation, context }) => ({
    errorCode: code,
    errorType: "FAILED_DEPENDENCY",
    message: bounded(message, 500),
    remediationMessage: remediation,
    context: { ...about, ...context },
  }));
}
