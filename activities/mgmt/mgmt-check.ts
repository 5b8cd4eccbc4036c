import type { ManagementServerSettings } from "../activity-dependencies";
import type { VcsaClient } from "../drivers/vcsa/vcsa-client";
import type { MgmtPrecheckInput } from "../mgmt-contract";
import { type Check, type Finding, findingsAbout, type Found } from "../prechecks/run-checks";
import type { RetryPolicy } from "../retry-policy";
import { mgmtContext } from "./mgmt-step";

/** What every check of a management server works with. Nothing that a check does may change it. */
export interface MgmtCheckInput {
  readonly target: MgmtPrecheckInput;
  readonly client: VcsaClient;
  readonly settings: ManagementServerSettings;
  readonly retryPolicy: RetryPolicy;
  /** Takes the version of the server, from the check that reads it. */
  readonly versionsRead?: (versions: readonly string[]) => void;
}

export type MgmtCheckType =
  | "COMPONENT_MANAGER_REACHABLE"
  | "MGMT_NO_DOWNGRADE"
  | "MGMT_NO_UPDATE_IN_PROGRESS"
  | "MGMT_UPDATE_AVAILABLE"
  | "MGMT_UPDATE_CHECK"
  | "MGMT_SETTINGS"
  | "MGMT_MIGRATION_CHECK"
  | "BACKUP_RECENT"
  | "CERTIFICATES_VALID"
  | "CLOCKS_IN_SYNC"
  | "DISK_SPACE";

/** One condition that must hold before a management server is touched. */
export type MgmtCheck = Check<MgmtCheckType, MgmtCheckInput>;

/** Findings as the errors of a Stage, with the management server in their context. */
export function mgmtFindings({ target }: MgmtCheckInput, findings: readonly Finding[]): Found[] {
  return findingsAbout(mgmtContext(target), findings);
}
