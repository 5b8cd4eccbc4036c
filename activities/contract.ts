import type { ErrorBody } from "../src/domain/error-body";
import type { ClusterHost, HostProgress, HostRemediationOptions, HostResult } from "../src/domain/host-remediation";
import type { Stage } from "../src/domain/task";
import type { AttemptPolicy, ClusterKind, ClusterRef } from "../src/domain/upgrade-plan";

/** A cluster and the HOSTOS base image that it is to be brought to. */
export interface ClusterTarget {
  readonly cluster: ClusterRef;
  readonly kind: ClusterKind;
  readonly targetVersion: string;
  /** The upgrade on whose behalf this is done, for the log; absent in what the upgrade itself calls. */
  readonly upgradeId?: string;
}

/** One Stage per precheck, all of them, failed ones with their errors. Failed checks are a result, not a failure. */
export interface ClusterPrechecks {
  readonly stages: Stage[];
}

/**
 * The component manager's remediation settings of a cluster exactly as it gave them, to be put back unread. Kept in
 * the Workflow history, so it must never hold a secret (it holds none).
 */
export type RemediationPolicy = Readonly<Record<string, unknown>>;

export interface DesiredImage {
  /** False where the cluster's desired image already was the target. */
  readonly changed: boolean;
  /** The component manager's commit of the desired image, where it tells one. */
  readonly commit?: string;
}

export { workerShutdown } from "../src/domain/host-remediation";

export interface RemediateHostInput extends ClusterTarget {
  readonly host: Pick<ClusterHost, "host" | "fqdn">;
  /** `maximumAttempts` counts failures that the component manager reported, over all runs of the Activity. */
  readonly attempts: AttemptPolicy;
  readonly commit?: string;
  /** What an earlier run of this Activity knew when it was lost: attach to its remote task, keep its count. */
  readonly resume?: HostProgress;
  /**
   * The upgrade was cancelled while no worker ran this Activity: bring a remediation that runs to an end as after a
   * cancellation, start none, and throw CancelledFailure unless the host has been upgraded.
   */
  readonly stop?: boolean;
}

/** Details of every ApplicationFailure that an Activity throws; `progress` only from `remediateHost`. */
export interface FailureDetails {
  readonly error: ErrorBody;
  readonly progress?: HostProgress;
}

/**
 * The Activities that Workflows call. Types only: Workflows must not reach the implementation.
 *
 * Every method throws ApplicationFailure whose `type` is an error code of docs/error-codes.md and whose first detail
 * is {@link FailureDetails}. All are idempotent: each may run again after a crash at any point.
 */
export interface UpgradeActivities {
  /** Runs every precheck of a cluster, changes nothing. Heartbeats its Stages as they finish. */
  runClusterPrechecks(target: ClusterTarget): Promise<ClusterPrechecks>;
  /** The cluster's hosts, in the order in which they are to be upgraded. */
  readClusterHosts(target: ClusterTarget): Promise<ClusterHost[]>;
  /** The remediation policy as it is now; its own Activity, so that it is recorded before anything is changed. */
  readRemediationPolicy(target: ClusterTarget): Promise<RemediationPolicy>;
  /** Replaces the remediation policy by ours: the options, and the product's own failure action always FAIL. */
  putRemediationPolicy(
    input: ClusterTarget & { options: HostRemediationOptions; previous: RemediationPolicy },
  ): Promise<void>;
  /** Puts a policy back exactly as it was read. */
  restoreRemediationPolicy(input: ClusterTarget & { previous: RemediationPolicy }): Promise<void>;
  /** Makes the target the cluster's desired image (draft, base image, validate, commit) where it differs. */
  setDesiredImage(target: ClusterTarget): Promise<DesiredImage>;
  /** Upgrades one host and verifies it. Heartbeats {@link HostProgress}; never starts a second remediation of a host. */
  remediateHost(input: RemediateHostInput): Promise<HostResult>;
  /** Which upgrade holds the lock that is the child Workflow of this ID; undefined where none holds it any more. */
  readLockHolder(lock: { workflowId: string }): Promise<{ upgradeId?: string }>;
}
