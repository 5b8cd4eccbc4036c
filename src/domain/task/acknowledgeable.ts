// What an operator may accept. Everything else is a fact that the upgrade cannot get past, or a check without a result.

/** Codes of findings that an upgrade can work in spite of: the operator knows better, or will have fixed it by then. */
const acknowledgeable: ReadonlySet<string> = new Set([
  "BACKUP_NOT_RECENT",
  "CAPACITY_INSUFFICIENT",
  "CERTIFICATE_EXPIRES",
  "CLOCK_OUT_OF_SYNC",
  "DISK_SPACE_LOW",
  "HOST_NOT_CONNECTED",
  "HOST_IN_MAINTENANCE_MODE",
  "HOSTS_CANNOT_BE_EMPTIED",
  "CLUSTER_BUSY",
  "DPM_ENABLED",
  "HEALTH_CHECK_ERROR",
  "HEALTH_CHECK_FAILED",
  "HEALTH_CHECK_WARNING",
  "MGMT_BUSY",
  "MGMT_CHECK_WARNING",
  "NETVIRT_CHECK_FAILED",
  "NETVIRT_CHECK_WARNING",
  "NETVIRT_CHECKS_UNFINISHED",
  "NETVIRT_NODE_IN_MAINTENANCE",
  "NETVIRT_UPGRADE_RUNNING",
  "VM_CANNOT_MOVE",
]);

const newer = "A newer version cannot be taken back.";
const refused = "The product does the same check before it installs anything, and refuses.";

const reasons: Readonly<Record<string, string>> = {
  FINDINGS_UNLISTED: "It stands for errors that are not listed.",
  HOST_NEWER_THAN_TARGET: newer,
  MGMT_CHECK_FAILED: refused,
  MGMT_NEWER_THAN_TARGET: newer,
  MGMT_UPDATE_NOT_POSSIBLE: refused,
  NETVIRT_CHECK_UNACKNOWLEDGED: "It must be acknowledged in the upgrade coordinator.",
  NETVIRT_NEWER_THAN_TARGET: newer,
  PRECHECK_NOT_RUN: "The check was not run, so it is not known what it would find.",
};

/** Why nobody can acknowledge a finding with this code; undefined where somebody can. */
export function whyNotAcknowledgeable(code: string): string | undefined {
  if (acknowledgeable.has(code)) return undefined;
  return Object.hasOwn(reasons, code) ? reasons[code] : "The resource cannot be upgraded while it holds.";
}
