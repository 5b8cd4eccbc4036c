import type { ErrorBody } from "./error-body";
import type { Stage } from "./task";
import type { HostosUpgradeOptionsSpec } from "./upgrade-spec";

/** How hosts are remediated: the options of Spec 2.2 without the failure action, which is ours and not the product's. */
export type HostRemediationOptions = Omit<HostosUpgradeOptionsSpec, "hostosUpgradeFailureAction">;

/** A host of a cluster as its component manager lists it. `host` is the manager's own id, such as `host-12`. */
export interface ClusterHost {
  readonly host: string;
  readonly fqdn: string;
  /** HOSTOS version, such as `9.0.0-0.24755229`; empty where the manager does not know it. */
  readonly version: string;
  /** Whether the host already is what the upgrade would make it. */
  readonly atTarget: boolean;
  /** The manager's word for its connection, in lower case, such as `not_responding`; absent where it is connected. */
  readonly connection?: string;
  /** Whether it is in maintenance mode or on its way into it; absent where it is not. */
  readonly inMaintenanceMode?: true;
  /** Names of virtual machines on it that the upgrade has switched off and that do not run; absent where there are none. */
  readonly stoppedVms?: readonly string[];
}

/** What is known of one host while it is remediated, for its SubTask. */
export interface HostAttempt {
  /** Failures that the component manager reported; only these use up attempts. */
  readonly reportedFailures: number;
  /** One sentence on what happens now, for the operator. */
  readonly activity: string;
  readonly stages: readonly Stage[];
  readonly lastError?: ErrorBody;
  readonly maximumAttempts?: number;
  /** How far the component manager is with what happens now, 0 to 100. */
  readonly percent?: number;
}

/** How the upgrade of one host ended well. `stages` are final. */
export interface HostResult {
  readonly host: string;
  readonly outcome: "UPGRADED" | "ALREADY_AT_TARGET";
  readonly version: string;
  readonly stages: Stage[];
}

/** The stages of one host in their order; the `type` of each Stage. */
export const hostStages = {
  CHECK_COMPLIANCE: "Check compliance",
  REMEDIATE: "Remediate",
  RECONNECT: "Wait until connected",
  VERIFY: "Verify version and compliance",
} as const;

/** The stages of one host of a baseline-managed cluster in their order; the `type` of each Stage. */
export const baselineHostStages = {
  CHECK_VERSION: "Check version",
  CHANGE_VM_POWER: "Power off or suspend virtual machines",
  ENTER_MAINTENANCE_MODE: "Enter maintenance mode",
  INSTALL_PATCH: "Install the patch",
  REBOOT: "Restart",
  RECONNECT: "Wait until connected",
  EXIT_MAINTENANCE_MODE: "Exit maintenance mode",
  VERIFY: "Verify the version",
} as const;
export type BaselineHostStageType = keyof typeof baselineHostStages;

/** `type` of the failure of an Activity that its Worker stopped: it is run again, nothing was used up. */
export const workerShutdown = "WORKER_SHUTDOWN";
