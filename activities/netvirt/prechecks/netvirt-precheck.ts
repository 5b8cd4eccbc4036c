import type { ErrorBody } from "../../../src/domain/error-body";
import type { ActivityLimits } from "../../activity-dependencies";
import type { NetvirtTarget } from "../../contract";
import { bounded } from "../../drivers/driver-error";
import type { NsxClient } from "../../drivers/nsx/nsx-client";
import type { RetryPolicy } from "../../retry-policy";
import type { Check } from "../../prechecks/run-checks";

/** What every check of a NETVIRT instance works with. */
export interface NetvirtPrecheckInput {
  readonly target: NetvirtTarget;
  readonly client: NsxClient;
  readonly retryPolicy: RetryPolicy;
  readonly limits: ActivityLimits;
  /** When the checks have to be over to be told, by the clock of the retry policy. */
  readonly deadline: number;
}

export type NetvirtPrecheckType =
  | "COMPONENT_MANAGER_REACHABLE"
  | "NETVIRT_TARGET_OFFERED"
  | "NETVIRT_COMPONENTS_READY"
  | "NETVIRT_GROUPS_KNOWN"
  | "NETVIRT_NODES_IN_SERVICE"
  | "NETVIRT_PRE_UPGRADE_CHECKS";

/** One condition that must hold before a NETVIRT instance is touched. */
export type NetvirtPrecheck = Check<NetvirtPrecheckType, NetvirtPrecheckInput>;

/** Errors that one check reports at most. */
const maximumErrors = 20;

interface Finding {
  readonly code: string;
  readonly message: string;
  readonly remediation: string;
  readonly context?: Readonly<Record<string, string>>;
}

/** Findings as the errors of a Stage, with the instance in their context. */
export function findingsOf({ target, client }: NetvirtPrecheckInput, findings: readonly Finding[]): ErrorBody[] {
  return findings.slice(0, maximumErrors).map(({ code, message, remediation, context }) => ({
    errorCode: code,
    errorType: "FAILED_DEPENDENCY",
    message: bounded(message, 500),
    remediationMessage: remediation,
    context: { netvirt: target.netvirt.name, componentManager: client.id, ...context },
  }));
}
