import { DriverError } from "../drivers/driver-error";

/** The ways in which a component manager reports that a host was not upgraded. Only these use up an attempt. */
const remediations = {
  HOST_REMEDIATION_FAILED: "Resolve what the component manager reports for the host, then retry the upgrade.",
  HOST_REMEDIATION_STALLED:
    "See in the component manager what the host waits for (often virtual machines that cannot move), resolve it, then retry the upgrade.",
  HOST_NOT_RECONNECTED: "Look at the host's console and bring it back into the cluster, then retry the upgrade.",
  HOST_NOT_AT_TARGET: "Compare the host's image with the cluster's in the component manager, then retry the upgrade.",
  HOST_NOT_BACK_IN_SERVICE:
    "Take the host out of maintenance mode in the component manager and start its virtual machines, then retry the upgrade.",
  HOST_INCOMPATIBLE:
    "Resolve what the component manager reports for the host, or choose another image, then retry the upgrade.",
  HOST_MAINTENANCE_MODE_FAILED:
    "Make room for the host's virtual machines or switch them off (preRemediationPowerAction), then retry the upgrade.",
  HOST_LEFT_IN_MAINTENANCE_MODE: "Take the host out of maintenance mode in the component manager, then retry.",
} as const;
export type ReportedCode = keyof typeof remediations;

export function isReportedCode(code: string): code is ReportedCode {
  return Object.hasOwn(remediations, code);
}

/** The next thing that an operator can do. */
export function remediationOf(code: ReportedCode): string {
  return remediations[code];
}

/** A failure of one host that counts against the attempts of the upgrade. */
export class ReportedFailure extends Error {
  constructor(
    readonly code: ReportedCode,
    readonly error: DriverError,
  ) {
    super(error.message);
  }
}

/** `what` is a sentence without its full stop; `causes` are the component manager's own words. */
export function reportedFailure(code: ReportedCode, what: string, causes: readonly string[] = []): ReportedFailure {
  const message = causes[0] ? `${what}: ${causes[0]}` : `${what}.`;
  return new ReportedFailure(
    code,
    new DriverError({ kind: "transient", code, message, remediation: remediations[code], causes }),
  );
}
