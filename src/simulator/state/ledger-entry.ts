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
  "LIVE_PATCHED",
);
export type LedgerStep = t.TypeOf<typeof LedgerStep>;

/**
 * One line of the ledger, which is only ever appended to: what was done to which host, when (RFC 3339), by which
 * task, and in the how-many-th remediation of that host (`attempt`, from 1). `seq` counts from 1.
 */
export const LedgerEntry = model(
  { seq: t.number, at: t.string, cluster: t.string, step: LedgerStep },
  { host: t.string, task: t.string, attempt: t.number, detail: t.string },
);
export type LedgerEntry = t.TypeOf<typeof LedgerEntry>;
