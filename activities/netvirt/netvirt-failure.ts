import { DriverError } from "../drivers/driver-error";

const maintenance =
  "A host that failed stays in NETVIRT maintenance mode, in which further upgrades pass it over and which a restart does not end: take it out there.";

/** The ways in which the upgrade coordinator reports that a component was not upgraded. Only these use up an attempt. */
const remediations = {
  NETVIRT_UPGRADE_FAILED: `Resolve what the coordinator reports for the nodes. ${maintenance} Then retry the upgrade.`,
  NETVIRT_NODES_NOT_UPGRADED: `See in the coordinator why the nodes were passed over. ${maintenance} Then retry the upgrade.`,
  NETVIRT_UPGRADE_STALLED:
    "See in the coordinator what the nodes in work wait for (often virtual machines that cannot move), then retry the upgrade.",
  NETVIRT_UPGRADE_PAUSED: "Find out who pauses the upgrade in the coordinator, then retry the upgrade.",
} as const;
export type NetvirtFailureCode = keyof typeof remediations;

/** A failure of a component that counts against the attempts of the upgrade. */
export class NetvirtFailure extends Error {
  constructor(
    readonly code: NetvirtFailureCode,
    readonly error: DriverError,
  ) {
    super(error.message);
  }
}

/** `what` is a sentence without its full stop; `causes` are the coordinator's own words. */
export function netvirtFailure(code: NetvirtFailureCode, what: string, causes: readonly string[] = []): NetvirtFailure {
  const message = causes[0] ? `${what}: ${causes[0]}` : `${what}.`;
  return new NetvirtFailure(
    code,
    new DriverError({ kind: "transient", code, message, remediation: remediations[code], causes }),
  );
}
