import * as t from "io-ts";
import { model, OneOf } from "../../domain/codec";

/** What can happen to a cluster or host; docs/simulator.md says when each is written. */
export const LedgerStep = OneOf(
  "POLICY_SET",
  "IMAGE_COMMITTED",
  "APPLY_REQUESTED",
  "SETTINGS_SWITCHED_OFF",
  "SETTINGS_RESTORED",
  "APPLY_STARTED",
  "MAINTENANCE_ENTERED",
  "REMEDIATED",
  "REBOOTED",
  "MAINTENANCE_EXITED",
  "RETRY_PENDING",
  "APPLY_FAILED",
  "APPLY_FINISHED",
  "CANCELLED",
  "HOST_REPAIRED",
  "HOST_JOINED",
  "HOST_LEFT",
  "NSX_CHECKS_STARTED",
  "NSX_SETTINGS_SET",
  "NSX_GROUP_SET",
  "NSX_UPGRADE_REQUESTED",
  "NSX_PAUSE_REQUESTED",
  "NSX_NODE_STARTED",
  "NSX_NODE_UPGRADED",
  "NSX_NODE_FAILED",
  "NSX_MAINTENANCE_EXITED",
  "NSX_COMPONENT_ENDED",
  "MAINTENANCE_REQUESTED",
  "REBOOT_REQUESTED",
  "VM_POWER_CHANGED",
  "MGMT_STAGE_REQUESTED",
  "MGMT_STAGED",
  "MGMT_STAGING_FAILED",
  "MGMT_STAGING_CANCELLED",
  "MGMT_INSTALL_REQUESTED",
  "MGMT_INSTALLED",
  "MGMT_INSTALL_INTERRUPTED",
  "MGMT_INSTALL_FAILED",
  "MGMT_ROLLED_BACK",
  "MGMT_MIGRATION_SET",
  "MGMT_MIGRATION_APPLIED",
  "MGMT_PREPARED",
  "MGMT_SWITCHOVER_STARTED",
  "MGMT_SWITCHED_OVER",
  "MGMT_MIGRATION_FAILED",
  "MGMT_MIGRATION_CANCELLED",
  "LIVE_PATCHED",
  "MANAGER_RESTARTED",
);
export type LedgerStep = t.TypeOf<typeof LedgerStep>;

/**
 * One line of the ledger, which is only ever appended to: what was done to which host or, without one, to which cluster, when (RFC 3339), by which
 * task, and in the how-many-th remediation of that host (`attempt`, from 1). `seq` counts from 1.
 */
export const LedgerEntry = model(
  { seq: t.number, at: t.string, step: LedgerStep },
  { cluster: t.string, host: t.string, task: t.string, attempt: t.number, detail: t.string },
);
export type LedgerEntry = t.TypeOf<typeof LedgerEntry>;
