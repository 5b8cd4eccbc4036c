import type { ErrorBody } from "../src/domain/errors";
import type { MaintenancePlace } from "../src/domain/opening";
import type { HostScope } from "../src/domain/plan/host-scope";
import type { AttemptPolicy, ClusterImage, ClusterKind, ClusterRef } from "../src/domain/plan/upgrade-plan";
import type { ConflictingHolder } from "../src/domain/resource-lock";
import type {
  ClusterHost,
  HostRemediationOptions,
  RemediationProgress,
  RemediationResult,
  RunAgain,
} from "../src/domain/task/host-remediation";
import type { FindingKey } from "../src/domain/task/findings";
import type { MgmtProgress } from "../src/domain/task/mgmt-progress";
import type { NetvirtProgress } from "../src/domain/task/netvirt-upgrade";
import type { CheckActivities } from "./check-contract";
import type { MgmtActivities } from "./mgmt-contract";
import type { NetvirtActivities } from "./netvirt-contract";
import type { NotificationActivities } from "./notification-contract";
import type { PrecheckOptions, ResourcePrechecks } from "./precheck-contract";

export type { RunAgain } from "../src/domain/task/host-remediation";
export type * from "./check-contract";
export type * from "./mgmt-contract";
export type * from "./netvirt-contract";
export type * from "./notification-contract";
export type * from "./precheck-contract";
export type * from "./work-stage";

/** A cluster and the HOSTOS base image that it is to be brought to. */
export interface ClusterTarget {
  readonly cluster: ClusterRef;
  readonly kind: ClusterKind;
  readonly targetVersion: string;
  /** The hosts that the upgrade is about; absent means all. */
  readonly scope?: HostScope;
  /** Only of BASELINE, whose options are no policy of the component manager but ours to carry out. */
  readonly options?: HostRemediationOptions;
  /** Only of BASELINE: the ISO of the inventory that the target comes from, instead of the patch of that version. */
  readonly customIsoId?: string;
  /**
   * Only of IMAGE, where several hosts are remediated together: those of the options that the product would carry out
   * itself on a host that it empties, and that are therefore ours to carry out and to take back.
   */
  readonly ownOptions?: HostRemediationOptions;
  /**
   * What the image has beside its base image, and nothing else. Absent means that only the base image is changed: the
   * add-on and the components that the cluster has stay.
   */
  readonly image?: ClusterImage;
  /** The upgrade on whose behalf this is done, for the log; absent in what the upgrade itself calls. */
  readonly upgradeId?: string;
  /** The places that must be open for it to begin: without freeze, and in their maintenance windows. */
  readonly places: readonly MaintenancePlace[];
}

/** What a freeze, a hold or the calendar may keep from beginning. */
export interface ClosureLook {
  readonly places: readonly MaintenancePlace[];
  /** The message of the reason that is known: tried again until there is another one, or none. */
  readonly known?: string;
}

/** Why nothing may begin now. */
export interface ClosureFound {
  /** Absent where everything may begin. */
  readonly error?: ErrorBody;
  /** When the maintenance window closes that is open, or a change freeze begins (epoch milliseconds); absent without one. */
  readonly closesAt?: number;
  /** Where a hold is why: each cluster that is held. The others may begin. */
  readonly held?: readonly HeldCluster[];
}

/** A cluster that is held, and who holds it why. */
export interface HeldCluster {
  readonly cluster: string;
  readonly error: ErrorBody;
}

/**
 * The component manager's remediation settings of a cluster exactly as it gave them, to be put back unread. Kept in
 * the Workflow history, so it must never hold a secret (it holds none).
 */
export type RemediationPolicy = Readonly<Record<string, unknown>>;

/** A cluster's policy before it is changed, recorded so that it can be put back. */
export interface RecordedPolicy {
  readonly previous: RemediationPolicy;
  /** What held with it, also from the default of all clusters; absent where there is no such default. */
  readonly effective?: RemediationPolicy;
}

/** What a cluster's policy is to become, and what it was. */
export interface PolicyChange extends RecordedPolicy {
  readonly options: HostRemediationOptions;
  /** Hosts that one remediation is to take at the same time; absent means 1. */
  readonly hostsAtOnce?: number;
}

export interface DesiredImage {
  /** False where the cluster's desired image already was the target. */
  readonly changed: boolean;
  /** The component manager's commit of the desired image, where it tells one. */
  readonly commit?: string;
}

export type { HealthWait } from "../src/domain/task/pending-activity";

/** What a short look at a cluster's health has found out. Not healthy is also what could not be told at once. */
export interface HealthLook {
  readonly healthy: boolean;
  /** The component manager's check, where it was asked for and has not ended yet. */
  readonly check?: string;
}

export interface AwaitHealthInput extends ClusterTarget {
  /** A check of the component manager that a look has asked for. */
  readonly check?: string;
  /** What of the cluster's health an operator has accepted. */
  readonly acknowledged?: readonly FindingKey[];
}

/** A host of a baseline-managed cluster before anything is done to it; recorded, so that all of it can be put back. */
export interface HostBefore {
  /** When this was read, by the component manager's clock. */
  readonly at: string;
  /** Whether somebody else has the host in maintenance mode already. */
  readonly inMaintenanceMode: boolean;
  /** Whether it already waits for a restart that has nothing to do with us. */
  readonly rebootRequired: boolean;
  /** Whether it already is what the upgrade would make it. */
  readonly atTarget: boolean;
  /** Ids of the running virtual machines that are to be switched off; empty where they are to be moved. */
  readonly runningVms: readonly string[];
}

/** The hosts of a cluster; at its end with the virtual machines that the upgrade may have switched off, by their ids. */
export type HostsToRead = ClusterTarget & { readonly switchedOff?: readonly string[] };

/** Ids of the virtual machines that ran on each host, by its id, before an upgrade switched them off. */
export type RunningVms = Readonly<Record<string, readonly string[]>>;

export { workerShutdown } from "../src/domain/task/host-remediation";

/** The ids of a host, its component manager's and its name. */
export type HostName = Pick<ClusterHost, "host" | "fqdn">;

/** A host as a failed attempt has left it, and what the upgrade itself has changed of it. */
export interface HostToRestore extends HostName {
  /** Whether the upgrade has put it into maintenance mode. */
  readonly inMaintenanceMode: boolean;
  /** Ids of virtual machines that ran on it before the upgrade switched them off. */
  readonly vms: readonly string[];
}

/** One host of a cluster, or several of an image-managed one whose policy takes them at the same time. */
export interface RemediateHostsInput extends ClusterTarget, RunAgain<RemediationProgress> {
  /** 1 to 96; the same hosts in the same order in every run, because progress tells them by their place. */
  readonly hosts: readonly HostName[];
  /** `maximumAttempts` counts, for each host, the failures that the component manager reported, over all runs. */
  readonly attempts: AttemptPolicy;
  readonly commit?: string;
  /**
   * Only of IMAGE: takes a short look at the cluster's health before anything is asked for, and begins no host unless it is
   * healthy; see {@link RemediationResult.gateClosed}.
   */
  readonly gate?: true;
  /** What of the cluster's health an operator has accepted. */
  readonly acknowledged?: readonly FindingKey[];
  /**
   * Only of IMAGE, and always there where the policy takes several hosts at the same time (`hostsAtOnce` of
   * {@link UpgradeActivities.putRemediationPolicy}): the product then remediates only hosts that are empty before, so
   * that the Activity puts them into maintenance mode as these options say, and takes them out. No other host of the
   * cluster is in maintenance mode then. Absent where the product empties its host itself.
   */
  readonly emptying?: HostRemediationOptions;
  /**
   * What {@link UpgradeActivities.readRunningVms} gave, where `ownOptions` switch virtual machines off: these and no
   * others are switched off, and run again at the end of every attempt.
   */
  readonly runningVms?: RunningVms;
  /** Only of BASELINE, which has one host here, and always there: what {@link UpgradeActivities.readHostBefore} gave. */
  readonly before?: HostBefore;
}

/** What an Activity that is attached to again heartbeats, and starts from when it runs again. */
export type ActivityProgress = RemediationProgress | NetvirtProgress | MgmtProgress;

/** Details of every ApplicationFailure that an Activity throws; `progress` only from those that are attached to again. */
export interface FailureDetails<P extends ActivityProgress = RemediationProgress> {
  readonly error: ErrorBody;
  readonly progress?: P;
  /** Of an Activity whose worker was stopped: something that it has asked for may still take effect, a call's time long. */
  readonly mayStillArrive?: true;
}

/** Whether a bundle may still be installed. */
export interface BundleCheck {
  /** Why not: recalled, or its download has been lost. */
  readonly error?: ErrorBody;
}

/** Who holds a lock, and how far that upgrade is with its locks; nothing where nobody holds it any more. */
export type LockHolder = Partial<ConflictingHolder>;

/** A lock that is held. */
export interface HeldLock extends ConflictingHolder {
  readonly workflowId: string;
}

/**
 * The Activities that Workflows call. Types only: Workflows must not reach the implementation.
 *
 * Every method throws ApplicationFailure whose `type` is an error code of docs/error-codes.md and whose first detail
 * is {@link FailureDetails}. All are idempotent: each may run again after a crash at any point.
 *
 * What begins something (a resource, a host, a component, a step of a management server) fails with an error of which `isClosed`
 * (src/domain/opening.ts) is true where it may not, and has begun nothing then.
 */
export interface UpgradeActivities extends NetvirtActivities, MgmtActivities, NotificationActivities, CheckActivities {
  /** Looks at the bundle of an upgrade in the catalog as it is now. */
  checkBundle(input: { readonly bundleId: string; readonly upgradeId: string }): Promise<BundleCheck>;
  /** Looks whether a freeze, a hold or the calendar keeps something from beginning. With `known` it fails, to be tried again, while that holds. */
  lookAtClosure(look: ClosureLook): Promise<ClosureFound>;
  /** Runs every precheck of a cluster, changes nothing. Heartbeats its Stages as they finish. */
  runClusterPrechecks(target: ClusterTarget & PrecheckOptions): Promise<ResourcePrechecks>;
  /**
   * The cluster's hosts, in the order in which they are to be upgraded; read once more at the cluster's end, where
   * `connection`, `inMaintenanceMode` and `stoppedVms` say what is not as it should be.
   */
  readClusterHosts(target: HostsToRead): Promise<ClusterHost[]>;
  /**
   * The remediation policy as it is now; its own Activity, so that it is recorded before anything is changed. Of a
   * baseline-managed cluster: its HA admission control and its power management (DPM); with `ownOptions` both.
   */
  readRemediationPolicy(target: ClusterTarget): Promise<RecordedPolicy>;
  /**
   * Replaces the remediation policy by ours: the options, parallel remediation where `hostsAtOnce` is more than 1
   * (and never otherwise), and the product's own failure action always FAIL. On a baseline-managed cluster: switches
   * HA admission control and DPM off where asked. With `ownOptions` both, and the policy asks for nothing of these.
   */
  putRemediationPolicy(input: ClusterTarget & PolicyChange): Promise<void>;
  /** Puts a policy back exactly as it was read. */
  restoreRemediationPolicy(input: ClusterTarget & { previous: RemediationPolicy }): Promise<void>;
  /**
   * Makes the target the cluster's desired image (draft, base image, validate, commit) where it differs. A
   * baseline-managed cluster has none: there it only makes sure that the patch of the target is known.
   */
  setDesiredImage(target: ClusterTarget): Promise<DesiredImage>;
  /** Reads a host of a baseline-managed cluster; its own Activity, so that it is recorded before anything is changed. */
  readHostBefore(input: ClusterTarget & { host: HostName }): Promise<HostBefore>;
  /**
   * The virtual machines that run on hosts which are remediated together; its own Activity, so that they are recorded
   * before anything is changed.
   */
  readRunningVms(input: ClusterTarget & { hosts: readonly HostName[] }): Promise<RunningVms>;
  /**
   * Upgrades hosts and verifies them. Several at the same time are first emptied (`emptying`): `runningVms` are switched
   * off where the upgrade asks for that, the hosts enter maintenance mode, and at the end all of that is taken back. One
   * host that fails does not stop the others; how each ended is in the result, so of several hosts it only throws between
   * two attempts (retryable) or where something else than a host is wrong; of one host alone it throws its failure.
   * Heartbeats {@link RemediationProgress}; never starts a second remediation of a host. Its retry policy must allow
   * `maximumAttempts` times the number of hosts, because it counts for each host on its own.
   */
  remediateHosts(input: RemediateHostsInput): Promise<RemediationResult>;
  /**
   * At a cluster's end: takes hosts out of maintenance mode and starts virtual machines, which attempts could not put back.
   * Leaves a host as it is where that is not possible, or while a remediation of the cluster runs; the hosts are read again
   * after it.
   */
  restoreHosts(input: ClusterTarget & { readonly hosts: readonly HostToRestore[] }): Promise<void>;
  /**
   * Waits until the cluster is healthy: every host connected, none in maintenance mode, the component manager's own
   * health check without an error; a baseline-managed cluster has no such check, there no host and not the cluster
   * itself has the status red. Heartbeats {@link HealthWait}; fails as
   * HEALTH_GATE_CLOSED, naming what is not green, when its limit is over.
   */
  awaitClusterHealth(input: AwaitHealthInput): Promise<void>;
  /** Who holds the lock that is the child Workflow of this ID. */
  readLockHolder(lock: { workflowId: string }): Promise<LockHolder>;
  /** Of several locks those that are held, and by which upgrade. */
  readLockHolders(locks: { workflowIds: readonly string[] }): Promise<HeldLock[]>;
}
