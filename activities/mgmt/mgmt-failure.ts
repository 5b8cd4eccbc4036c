import { DriverError } from "../drivers/driver-error";

/** The ways in which a management server reports that it was not upgraded, and what to do then. */
const remediations = {
  MGMT_STAGING_FAILED: "Resolve what the management server reports of its update repository, then retry the upgrade.",
  MGMT_CHECK_FAILED: "Resolve what the management server's check reports, then retry the upgrade.",
  MGMT_MIGRATION_FAILED: "Resolve what the management server reports of the migration, then retry the upgrade.",
  MGMT_UPDATE_STALLED: "Check the appliance's console and log for what the update waits for, then retry the upgrade.",
  MGMT_MIGRATION_STALLED:
    "Find out in the management server what the migration waits for (often resources for the new appliance), then retry.",
  MGMT_INSTALL_FAILED:
    "Restore the appliance from its backup, or contact the vendor's support; then start a new upgrade. A retry does not help.",
  MGMT_INSTALL_ROLLED_BACK:
    "Wait until the appliance has rolled back, resolve what it reports of the failure, then start a new upgrade.",
  MGMT_SWITCHOVER_FAILED:
    "Check both appliances, power on the old one if it is off, cancel the migration there, then retry.",
  MGMT_NOT_AT_TARGET: "Check the appliance's console for its version, then retry the upgrade.",
  MGMT_CHANGE_LOST: "Find out in the management server who changed its update or migration, then retry the upgrade.",
  MGMT_NOT_STARTED: "Check the appliance's log for the request, then retry the upgrade.",
} as const;
export type MgmtFailureCode = keyof typeof remediations;

/** After these the same may be tried again: nothing of the server has been changed yet. */
const worthAnotherAttempt: ReadonlySet<MgmtFailureCode> = new Set([
  "MGMT_STAGING_FAILED",
  "MGMT_CHECK_FAILED",
  "MGMT_MIGRATION_FAILED",
  "MGMT_MIGRATION_STALLED",
  "MGMT_UPDATE_STALLED",
]);

/** A failure that the management server reports. `usesAttempt`: it uses an attempt of the upgrade, and another one may follow. */
export class MgmtFailure extends Error {
  constructor(
    readonly code: MgmtFailureCode,
    readonly error: DriverError,
    readonly usesAttempt: boolean,
  ) {
    super(error.message);
  }
}

/** `what` is a sentence without its full stop; `causes` are the product's own words. */
export function mgmtFailure(
  code: MgmtFailureCode,
  what: string,
  { causes = [], final = false }: { causes?: readonly string[]; final?: boolean } = {},
): MgmtFailure {
  const message = causes[0] ? `${what}: ${causes[0]}` : `${what}.`;
  const error = new DriverError({ kind: "permanent", code, message, remediation: remediations[code], causes });
  return new MgmtFailure(code, error, !final && worthAnotherAttempt.has(code));
}
