import * as t from "io-ts";
import { model, WholeNumber } from "./codec";
import { ErrorBody } from "./error-body";
import { Stage } from "./task";
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
}

/**
 * What is known of one host's remediation while it runs: the heartbeat details of `remediateHost`. A later run of
 * the Activity starts from it, and the Task shows its stages. Kept small: an Activity failure holds at most 4 KiB.
 */
export const HostProgress = model(
  {
    host: t.string,
    /** Failures that the component manager reported; only these use up attempts (docs/spec-gaps.md, what consumes an attempt). */
    reportedFailures: WholeNumber,
    /** One sentence on what happens now, for the operator. */
    activity: t.string,
    stages: t.array(Stage),
  },
  {
    /** The component manager's id of the running remediation, to attach to again. */
    remoteTask: t.string,
    /** When this attempt asked, or was about to ask, for the remediation; tells an earlier result from ours. */
    requestedAt: t.string,
    lastError: ErrorBody,
    /** How many reported failures the host may have in all. */
    maximumAttempts: WholeNumber,
    /** How far the component manager is with what happens now, 0 to 100. */
    percent: WholeNumber,
    /** Of a baseline-managed cluster: when the host had last started as this attempt began, to know a restart by. */
    bootTime: t.string,
  },
);
export type HostProgress = t.TypeOf<typeof HostProgress>;

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
export type HostStageType = keyof typeof hostStages;

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
