import * as t from "io-ts";
import { model, OneOf } from "../../domain/codec";
import { NsxState } from "../nsx/nsx-state";
import { VcsaState } from "../vcsa/vcsa-state";
import { Vim25Cluster } from "../vim25/vim25-state";
import { Fault } from "./fault";
import { ImageExtras } from "./image-extras";
import { Moment } from "./moment";
import { RemediationPolicy } from "./remediation-policy";

/** Where a host's VMs went while it is in maintenance mode, to bring them back afterwards. Counts of VMs by host. */
export const Evacuation = model(
  {
    running: t.record(t.string, t.number),
    offline: t.record(t.string, t.number),
    poweredOff: t.number,
    suspended: t.number,
  },
  { suspendedToMemory: t.number },
);
export type Evacuation = t.TypeOf<typeof Evacuation>;

/** One host. `applies` counts the remediations that were begun on it. */
export const HostState = model(
  {
    id: t.string,
    name: t.string,
    version: t.string,
    connection: OneOf("CONNECTED", "DISCONNECTED", "NOT_RESPONDING"),
    power: OneOf("POWERED_ON", "POWERED_OFF", "STANDBY"),
    maintenance: OneOf("OUT", "ENTERING", "IN"),
    poweredOnVms: t.number,
    poweredOffVms: t.number,
    suspendedVms: t.number,
    applies: t.number,
  },
  {
    stagedVersion: t.string,
    evacuation: Evacuation,
    extras: ImageExtras,
    /** VMs that wait in the host's memory for the end of a quick boot. */
    suspendedToMemoryVms: t.number,
    /** Id of the fault that keeps it from coming back. */
    lostBy: t.string,
  },
);
export type HostState = t.TypeOf<typeof HostState>;

/** Something that will happen to a task at a moment. The whole future of a task is the list of these. */
export const TimelineEvent = model(
  {
    at: Moment,
    kind: OneOf(
      "HOST_STARTED",
      "MAINTENANCE_ENTERED",
      "REMEDIATED",
      "HOST_DOWN",
      "HOST_UP",
      "MAINTENANCE_EXITED",
      "HOST_FAILED",
      "TASK_ENDED",
      "LIVE_PATCHED",
    ),
  },
  {
    host: t.string,
    /** Of HOST_DOWN: the fault that keeps the host from coming back. */
    fault: t.string,
    failure: model({ status: OneOf("ERROR", "TIMED_OUT"), id: t.string, message: t.string, retriable: t.boolean }, {}),
  },
);
export type TimelineEvent = t.TypeOf<typeof TimelineEvent>;
export type HostFailure = NonNullable<TimelineEvent["failure"]>;

/** What a host's progress is at a moment; in between it is interpolated, after the last it stands still. */
export const ProgressMark = model({ at: Moment, percent: t.number, message: t.string }, {});
export type ProgressMark = t.TypeOf<typeof ProgressMark>;

/** One host's part of a remediation. `tries` counts entries into maintenance mode within this remediation. */
export const HostRun = model(
  {
    host: t.string,
    status: OneOf("WAITING", "RUNNING", "RETRY_PENDING", "OK", "ERROR", "TIMED_OUT", "SKIPPED"),
    tries: t.number,
    marks: t.array(ProgressMark),
  },
  {
    startedAt: Moment,
    endedAt: Moment,
    failures: t.array(model({ at: Moment, id: t.string, message: t.string, retriable: t.boolean }, {})),
    note: t.string,
    /** It was in maintenance mode before the remediation, and stays in it. */
    inMaintenance: t.boolean,
  },
);
export type HostRun = t.TypeOf<typeof HostRun>;

/** Compliance as a scan found it. `commit` and `version` are those of the desired image at that time. */
export const ScanSnapshot = model(
  {
    at: Moment,
    commit: t.string,
    version: t.string,
    hosts: t.record(
      t.string,
      model(
        {
          version: t.string,
          status: OneOf("COMPLIANT", "NON_COMPLIANT", "INCOMPATIBLE", "UNAVAILABLE"),
          staged: t.boolean,
        },
        {
          extras: ImageExtras,
          /** Why the host cannot take the image. */
          refusal: t.string,
        },
      ),
    ),
  },
  { extras: ImageExtras },
);
export type ScanSnapshot = t.TypeOf<typeof ScanSnapshot>;

/** What a health check found: for each host its issues, none where it passed, and what it only warns of. */
export const CheckSnapshot = model(
  { startedAt: Moment, endedAt: Moment, commit: t.string, issues: t.record(t.string, t.array(t.string)) },
  { warnings: t.record(t.string, t.array(t.string)) },
);
export type CheckSnapshot = t.TypeOf<typeof CheckSnapshot>;

/** What a remediation did, as it is kept when the task is long gone. */
export const ApplyRecord = model(
  { commit: t.string, startedAt: Moment, endedAt: Moment, succeeded: t.boolean, runs: t.array(HostRun) },
  {},
);
export type ApplyRecord = t.TypeOf<typeof ApplyRecord>;

/** A task of a cluster. `events` is its future; once that is empty and it is OPEN, it hangs. */
export const TaskState = model(
  {
    id: t.string,
    kind: OneOf("scan", "check", "stage", "apply", "validate", "commit"),
    status: OneOf("OPEN", "SUCCEEDED", "FAILED"),
    user: t.string,
    createdAt: Moment,
    /** When it is shown as RUNNING instead of PENDING. */
    startsAt: Moment,
    /** True once the component manager claims not to know its id. */
    forgotten: t.boolean,
    events: t.array(TimelineEvent),
  },
  {
    endedAt: Moment,
    cancelledAt: Moment,
    /** The desired image that it works towards. */
    commit: t.string,
    version: t.string,
    extras: ImageExtras,
    hosts: t.array(t.string),
    runs: t.array(HostRun),
    draft: t.string,
    message: t.string,
    scan: ScanSnapshot,
    check: CheckSnapshot,
    /** Settings of the cluster that a remediation switched off and puts back. */
    switchedOff: t.array(OneOf("admissionControl", "dpm")),
    /** A remediation of hosts at the same time: how many of them. */
    parallel: t.number,
    /** The component manager cancelled it when it restarted. */
    endedByRestart: t.boolean,
  },
);
export type TaskState = t.TypeOf<typeof TaskState>;

export const DraftState = model(
  { id: t.string, owner: t.string, createdAt: Moment, version: t.string },
  { displayName: t.string, extras: ImageExtras },
);
export type DraftState = t.TypeOf<typeof DraftState>;

/** One committed desired image of a cluster; later ones are further down the list. */
export const CommitState = model(
  { id: t.string, version: t.string, author: t.string, at: Moment, message: t.string },
  { extras: ImageExtras },
);
export type CommitState = t.TypeOf<typeof CommitState>;

export const ClusterState = model(
  {
    id: t.string,
    name: t.string,
    management: OneOf("IMAGE", "BASELINE"),
    haEnabled: t.boolean,
    drsEnabled: t.boolean,
    admissionControl: t.boolean,
    dpm: t.boolean,
    policy: RemediationPolicy,
    commits: t.array(CommitState),
    drafts: t.array(DraftState),
    hosts: t.array(HostState),
    tasks: t.array(TaskState),
  },
  { lastScan: ScanSnapshot, lastCheck: CheckSnapshot, lastApply: ApplyRecord, vim25: Vim25Cluster },
);
export type ClusterState = t.TypeOf<typeof ClusterState>;

/** Everything of the simulator that is no cluster. `ledgerLength` says how much of the ledger belongs to this state. */
export const GlobalState = model(
  {
    /** Digest of the configuration that the inventory was made from. */
    inventory: t.string,
    nextDraft: t.number,
    nextFault: t.number,
    defaultPolicy: RemediationPolicy,
    faults: t.array(Fault),
    ledgerLength: t.number,
  },
  {
    hostSeconds: t.number,
    vcsa: VcsaState,
    /** Number of the next host that joins; ids of hosts that have left are not given again. */
    nextHost: t.number,
  },
);
export type GlobalState = t.TypeOf<typeof GlobalState>;

/** All that outlives a restart of the simulator, apart from the ledger's entries. */
export const SimulatorState = model(
  { version: t.literal(1), global: GlobalState, clusters: t.array(ClusterState) },
  { nsx: NsxState },
);
export type SimulatorState = t.TypeOf<typeof SimulatorState>;

/** The desired image of an image-managed cluster; a baseline cluster has none. */
export function desiredImage(cluster: ClusterState): CommitState | undefined {
  return cluster.commits[cluster.commits.length - 1];
}
