import type { ErrorBody } from "../src/domain/error-body";
import type { ClusterHost, HostProgress, HostRemediationOptions, HostResult } from "../src/domain/host-remediation";
import type { HostsProgress, HostsResult } from "../src/domain/hosts-remediation";
import type { MgmtProgress } from "../src/domain/mgmt-progress";
import type { Stage } from "../src/domain/task";
import type { AttemptPolicy, ClusterImage, ClusterKind, ClusterRef } from "../src/domain/upgrade-plan";
import type { NetvirtProgress } from "../src/domain/netvirt-upgrade";
import type { MgmtActivities } from "./mgmt-contract";
import type { NetvirtActivities } from "./netvirt-contract";
import type { NotificationActivities } from "./notification-contract";

export type * from "./mgmt-contract";
export type * from "./netvirt-contract";
export type * from "./notification-contract";

/** A cluster and the HOSTOS base image that it is to be brought to. */
export interface ClusterTarget {
  readonly cluster: ClusterRef;
  readonly kind: ClusterKind;
  readonly targetVersion: string;
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

/** What a cluster's policy is to become, and what it was. */
export interface PolicyChange {
  readonly options: HostRemediationOptions;
  readonly previous: RemediationPolicy;
  /**
   * What held with it, also from the default of all clusters. Where it is absent what holds now is asked for, which a run that
   * was lost may have changed already.
   */
  readonly effective?: RemediationPolicy;
  /** Hosts that one remediation is to take at the same time; absent means 1. */
  readonly hostsAtOnce?: number;
}

/** The image that a cluster is to have, and what is done with it in the same run. */
export interface SetDesiredImageInput extends ClusterTarget {
  /** Only of IMAGE without `ownOptions`: the policy that is put before (docs/decisions/0033). */
  readonly policy?: PolicyChange;
  /** Whether the cluster's health is to be looked at afterwards. */
  readonly healthGate?: boolean;
}

export interface DesiredImage {
  /** False where the cluster's desired image already was the target. */
  readonly changed: boolean;
  /** The component manager's commit of the desired image, where it tells one. */
  readonly commit?: string;
}

/** A cluster whose desired image was set, and what was asked for besides. */
export interface PreparedCluster extends DesiredImage {
  /**
   * LEFT: the component manager did not take the policy at once, and nothing else was done. Absent where this attempt has not
   * tried to put it.
   */
  readonly policy?: "PUT" | "LEFT";
  /** Absent where it was not asked for, or went wrong. */
  readonly look?: HealthLook;
}

/** What a component manager knows of a cluster at once. */
export interface KnownCluster {
  /** Absent where that is not all of them. */
  readonly hosts?: ClusterHost[];
  /** Of the remediation policy; only with the hosts, and where it was asked for. */
  readonly policy?: Pick<PolicyChange, "previous" | "effective">;
}

export type { HealthWait } from "../src/domain/pending-activity";

/** What one look at a cluster's health has found out. */
export interface HealthLook {
  readonly healthy: boolean;
  /** The component manager's check, where it was asked for and has not ended yet. */
  readonly check?: string;
}

export interface AwaitHealthInput extends ClusterTarget {
  /** A check of the component manager that a look has asked for. */
  readonly check?: string;
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

/** Ids of the virtual machines that ran on each host, by its id, before an upgrade switched them off. */
export type RunningVms = Readonly<Record<string, readonly string[]>>;

export { workerShutdown } from "../src/domain/host-remediation";

export interface RemediateHostInput extends ClusterTarget {
  readonly host: Pick<ClusterHost, "host" | "fqdn">;
  /** `maximumAttempts` counts failures that the component manager reported, over all runs of the Activity. */
  readonly attempts: AttemptPolicy;
  readonly commit?: string;
  /** Only of BASELINE, and always there: what {@link UpgradeActivities.readHostBefore} gave. */
  readonly before?: HostBefore;
  /**
   * What an earlier run of this Activity knew when it was lost, or the Activity of an earlier host of what it had begun of
   * this one: attach to its remote task, keep its count.
   */
  readonly resume?: HostProgress;
  /**
   * Only of IMAGE: the hosts after this one, in their order. The same run goes on to them for as long as each takes but
   * moments (docs/decisions/0028).
   */
  readonly following?: readonly Pick<ClusterHost, "host" | "fqdn">[];
  /** Whether the cluster must be healthy before each of `following`. */
  readonly healthGate?: boolean;
  /**
   * When a run of this Activity was scheduled that has been lost since, as a Timestamp: what was begun of the hosts after
   * that is this upgrade's.
   */
  readonly lostSince?: string;
  /**
   * The upgrade was cancelled while no worker ran this Activity: bring a remediation that runs to an end as after a
   * cancellation, start none, and throw CancelledFailure unless the host has been upgraded.
   */
  readonly stop?: boolean;
}

/** How a host was upgraded, and those after it that the same run went on to. */
export interface HostsInTurn extends HostResult {
  /** The first hosts of `following`, upgraded as well. */
  readonly followed?: readonly HostResult[];
  /** The host after those: it was begun and did not end at once. Its own Activity goes on from this. */
  readonly begun?: HostProgress;
  /** What was found of the cluster's health before the host after those, where it was not healthy at once. */
  readonly look?: HealthLook;
}

/**
 * Several hosts of an image-managed cluster at the same time. The policy must say so (`hostsAtOnce` of
 * {@link UpgradeActivities.putRemediationPolicy}), and no other host of the cluster is in maintenance mode.
 */
export interface RemediateHostsInput extends ClusterTarget {
  /** 1 to 96; the same hosts in the same order in every run, because progress tells them by their place. */
  readonly hosts: readonly Pick<ClusterHost, "host" | "fqdn">[];
  readonly options: HostRemediationOptions;
  /**
   * What {@link UpgradeActivities.readRunningVms} gave, where `ownOptions` switch virtual machines off: these and no
   * others are switched off, and run again at the end of every attempt.
   */
  readonly runningVms?: RunningVms;
  /** `maximumAttempts` counts, for each host, the failures that the component manager reported for it. */
  readonly attempts: AttemptPolicy;
  readonly commit?: string;
  /** What an earlier run of this Activity knew when it was lost. */
  readonly resume?: HostsProgress;
  /** As in {@link RemediateHostInput}: bring what runs to an end, start nothing. */
  readonly stop?: boolean;
}

/** What an Activity that is attached to again heartbeats, and starts from when it runs again. */
export type ActivityProgress = HostProgress | HostsProgress | NetvirtProgress | MgmtProgress;

/** Details of every ApplicationFailure that an Activity throws; `progress` only from those that are attached to again. */
export interface FailureDetails<P extends ActivityProgress = HostProgress> {
  readonly error: ErrorBody;
  readonly progress?: P;
}

/** Who holds a lock. */
export interface LockHolder {
  /** Absent where nobody holds it any more. */
  readonly upgradeId?: string;
  /** That upgrade is still taking its locks, and gives this one back where it misses another; or it is giving it back. */
  readonly isDeciding?: boolean;
}

/**
 * The Activities that Workflows call. Types only: Workflows must not reach the implementation.
 *
 * Every method throws ApplicationFailure whose `type` is an error code of docs/error-codes.md and whose first detail
 * is {@link FailureDetails}. All are idempotent: each may run again after a crash at any point.
 */
export interface UpgradeActivities extends NetvirtActivities, MgmtActivities, NotificationActivities {
  /** Runs every precheck of a cluster, changes nothing. Heartbeats its Stages as they finish. */
  runClusterPrechecks(target: ClusterTarget): Promise<ClusterPrechecks>;
  /** The cluster's hosts, in the order in which they are to be upgraded. */
  readClusterHosts(target: ClusterTarget): Promise<ClusterHost[]>;
  /**
   * The same from what the component manager knows already, within seconds, so that it can be a local Activity; only
   * {@link readClusterHosts} has a cluster scanned. The policy is what {@link readRemediationPolicy} gives.
   */
  readKnownHosts(target: ClusterTarget & { readonly withPolicy?: boolean }): Promise<KnownCluster>;
  /**
   * The remediation policy as it is now; its own Activity, so that it is recorded before anything is changed. Of a
   * baseline-managed cluster: its HA admission control and its power management (DPM); with `ownOptions` both.
   */
  readRemediationPolicy(target: ClusterTarget): Promise<RemediationPolicy>;
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
   * baseline-managed cluster has none: there it only makes sure that the patch of the target is known. With `policy` that
   * is put first, in one try, by the first attempt; where it fails nothing else is done, and that is no error.
   */
  setDesiredImage(input: SetDesiredImageInput): Promise<PreparedCluster>;
  /** Reads a host of a baseline-managed cluster; its own Activity, so that it is recorded before anything is changed. */
  readHostBefore(input: ClusterTarget & { host: Pick<ClusterHost, "host" | "fqdn"> }): Promise<HostBefore>;
  /**
   * The virtual machines that run on hosts which are remediated together; its own Activity, so that they are recorded
   * before anything is changed.
   */
  readRunningVms(input: ClusterTarget & { hosts: readonly Pick<ClusterHost, "host" | "fqdn">[] }): Promise<RunningVms>;
  /**
   * Upgrades one host and verifies it, and goes on to `following` while each takes but moments: it fails for its own host
   * alone. Heartbeats {@link HostProgress} of the host in work; never starts a second remediation of a host.
   */
  remediateHost(input: RemediateHostInput): Promise<HostsInTurn>;
  /**
   * Upgrades several hosts at the same time: switches `runningVms` off where the upgrade asks for that, puts the hosts
   * into maintenance mode, has them remediated together, verifies them, takes them out of maintenance mode and starts
   * `runningVms` again. One host that fails does not stop the others; how each ended is
   * in the result, so it only throws between two attempts (retryable) or where something else than a host is wrong.
   * Heartbeats {@link HostsProgress}; never starts a second remediation of a host. Its retry policy must allow
   * `maximumAttempts` times the number of hosts, because it counts for each host on its own.
   */
  remediateHosts(input: RemediateHostsInput): Promise<HostsResult>;
  /**
   * Waits until the cluster is healthy: every host connected, none in maintenance mode, the component manager's own
   * health check without an error; a baseline-managed cluster has no such check, there no host and not the cluster
   * itself has the status red. Heartbeats {@link HealthWait}; fails as
   * HEALTH_GATE_CLOSED, naming what is not green, when its limit is over.
   */
  awaitClusterHealth(input: AwaitHealthInput): Promise<void>;
  /**
   * One look at the same, of seconds at most, so that it can be a local Activity. Not healthy is also what cannot be
   * told at once: then {@link awaitClusterHealth} has to wait.
   */
  checkClusterHealth(target: ClusterTarget): Promise<HealthLook>;
  /** Who holds the lock that is the child Workflow of this ID. */
  readLockHolder(lock: { workflowId: string }): Promise<LockHolder>;
  /** Of several locks those that are held, and by which upgrade. */
  readLockHolders(locks: { workflowIds: readonly string[] }): Promise<{ workflowId: string; upgradeId: string }[]>;
}
