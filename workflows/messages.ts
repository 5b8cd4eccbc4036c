import { defineQuery, defineSignal, defineUpdate } from "@temporalio/workflow";
import * as t from "io-ts";
import type { ActivityRecord } from "../src/domain/activity/upgrade-activity";
import { model, OneOf, WholeNumber } from "../src/domain/codec";
import { ErrorBody } from "../src/domain/errors";
import type { ResourceChecksPlan } from "../src/domain/checks/own-check";
import { Closed } from "../src/domain/opening";
import { type PlannedReceiver, UpgradeNotification } from "../src/domain/notifications/upgrade-notification";
import type { ClusterUpgradePlan, MgmtUpgradePlan, NetvirtUpgradePlan } from "../src/domain/plan/upgrade-plan";
import { type OperatorRequest, operatorRequests, type RequestOutcome } from "../src/domain/requests/upgrade-request";
import type { LockState } from "../src/domain/resource-lock";
import type { SubTask, Task } from "../src/domain/spec/task";
import type { Upgrade } from "../src/domain/spec/upgrade";
import type { HostCounts, ResourceOutcome } from "../src/domain/task/sub-task";
import type { ClusterWork } from "../src/domain/upgrade/cluster-work";
import type { VersionCounts } from "../src/domain/upgrade/upgrade-facts";
import type { ActivityWaits } from "../src/domain/time-limits";
import { Timestamp } from "../src/domain/timestamp";

/** The Task Queue of all Workflows and Activities. */
export const taskQueue = "upgrades";

/** Header of every Activity: the Task id of the upgrade that it works for, as JSON string. */
export const taskIdHeader = "task-id";

/** Header of an Activity: the `x-request-id` of the HTTP request on whose behalf it is run, as JSON string. */
export const requestIdHeader = "request-id";

/**
 * Signals and Updates of `upgradeWorkflow`, one of each for every request that operators can make
 * (src/domain/requests/request-rules.ts). Payloads are unknown on purpose: whatever somebody sends is decoded by the
 * handler and refused there, because an error while a Signal is delivered would block the Workflow.
 */
export const requestSignals = forEachRequest((name) => defineSignal<[payload?: unknown]>(name));
export const requestUpdates = forEachRequest((name) => defineUpdate<RequestOutcome, [payload: unknown]>(name));

function forEachRequest<D>(define: (name: OperatorRequest) => D): Readonly<Record<OperatorRequest, D>> {
  return Object.fromEntries(operatorRequests.map((name) => [name, define(name)])) as Record<OperatorRequest, D>;
}

/**
 * From the API to an upgrade, for its activity only: who is about to cancel it, or what the API has refused without asking
 * it. It changes nothing else.
 */
export const recordSignal = defineSignal<[payload?: unknown]>("record");

/** To an upgrade, which forwards it where the ask is not its own: what a webhook of its checks has decided that had answered 202. */
export const checkDecidedSignal = defineSignal<[decision: unknown]>("checkDecided");

/** Queries of `upgradeWorkflow`. `request` gives the outcome of a request id, undefined before it has arrived. */
export const taskQuery = defineQuery<Task>("task");
export const upgradeQuery = defineQuery<Upgrade>("upgrade");
export const requestQuery = defineQuery<RequestOutcome | undefined, [requestId: string]>("request");
/** The Task together with the children that know the rest of it. */
export const taskWithChildrenQuery = defineQuery<TaskWithChildren>("taskWithChildren");

/** Who requested what of the upgrade, and what happened. */
export const activityQuery = defineQuery<ActivityRecord>("activity");

/** Query of a resource's Workflow: its SubTask with hosts. */
export const subTaskQuery = defineQuery<SubTask & Published>("subTask");

/** From the upgrade to a resource's Workflow: its turn and its time have come. */
export const beginSignal = defineSignal<[begin?: unknown]>("begin");
/** From the upgrade to a cluster's Workflow in work: whether a host can still be left out, which it then is. */
export const skipHostSignal = defineSignal<[question: unknown]>("skipHost");
/** The answer of a cluster's Workflow. */
export const hostSkippedSignal = defineSignal<[answer: unknown]>("hostSkipped");
/** From the upgrade to a resource's Workflow: the Timestamp at which its work begins now, or null. For lists only. */
export const rescheduledSignal = defineSignal<[startsAt: unknown]>("rescheduled");
/** From the upgrade to a resource's Workflow: whether it is paused, as JSON boolean. */
export const pausedSignal = defineSignal<[paused: unknown]>("paused");
/** From the upgrade to a resource's Workflow: whether it ignores maintenance windows, as JSON boolean. It does so for good. */
export const windowsIgnoredSignal = defineSignal<[ignored: unknown]>("windowsIgnored");
/** From the upgrade to the Workflow of a management server: the Timestamp that its switchover waits for now. */
export const switchoverSignal = defineSignal<[startSwitchoverTimestamp: unknown]>("switchover");
/** From a resource's Workflow to its upgrade, for the one line that operators read first. */
export const hostsSignal = defineSignal<[report: unknown]>("hosts");

/** From a resource's Workflow to its upgrade: a check of the inventory has not passed, and pauses or fails the upgrade. */
export const checkFailedSignal = defineSignal<[failed: unknown]>("checkFailed");
/** From the upgrade to a resource's Workflow: whoever has resumed it accepts the failure of that number. */
export const checkAcceptedSignal = defineSignal<[number: unknown]>("checkAccepted");

/** From the upgrade to the Workflow of its notifications: what else has happened. */
export const notificationsSignal = defineSignal<[notices: unknown]>("notices");

/** To the Workflow of an upgrade's notifications: the upgrade may have ended. */
export const lookSignal = defineSignal("look");

/** A codec, because anybody can send a Signal. */
export const NotificationsPayload = t.array(UpgradeNotification);

/** A host that an operator leaves out, by its id or its name. Codecs, because anybody can send a Signal. */
const HostSkip = model({ host: t.string, reason: t.string }, { by: t.string });
export type HostSkip = t.TypeOf<typeof HostSkip>;

/** What goes with its beginning: findings of its prechecks that were acknowledged, and hosts that are left out. */
export const BeginPayload = model(
  {},
  {
    acknowledged: t.array(
      model({ code: t.string, resourceId: t.string }, { hostId: t.string, subject: t.string, until: Timestamp }),
    ),
    skippedHosts: t.array(HostSkip),
  },
);
export type BeginPayload = t.TypeOf<typeof BeginPayload>;

/** A number is not used again while a cluster is in work. */
export const HostSkipQuestion = model({ number: WholeNumber, host: t.string, reason: t.string }, { by: t.string });
export type HostSkipQuestion = t.TypeOf<typeof HostSkipQuestion>;

/** How a cluster has found a host. LEFT_OUT: it does not begin in this attempt, or in the next one where it has failed. */
export const HostSkipAnswer = model(
  { number: WholeNumber, found: OneOf("LEFT_OUT", "IN_WORK", "NOT_NEEDED", "UNKNOWN") },
  { hostId: t.string, hostName: t.string },
);
export type HostSkipAnswer = t.TypeOf<typeof HostSkipAnswer>;

/** A check that has not passed. A number is not used again by its resource. A codec, because anybody can send a Signal. */
export const CheckFailed = model(
  { resourceId: t.string, number: WholeNumber, onFailure: OneOf("PAUSE", "FAIL"), error: ErrorBody },
  {},
);
export type CheckFailed = t.TypeOf<typeof CheckFailed>;

/** A host that has failed, and when. */
const FailedHost = model({ id: t.string, name: t.string, at: Timestamp }, { errorCode: t.string, message: t.string });
export type FailedHost = t.TypeOf<typeof FailedHost>;

/**
 * How many hosts of a resource are done, and which have failed since the last report. A codec, because anybody can send a
 * Signal.
 */
export const HostsReport = model(
  {
    resourceId: t.string,
    hosts: model(
      { total: WholeNumber, upgraded: WholeNumber, skipped: WholeNumber, failed: WholeNumber, left: WholeNumber },
      { leftOut: WholeNumber },
    ),
  },
  {
    lastError: t.string,
    failedHosts: t.array(FailedHost),
    /** How many hosts run which version. */
    versions: t.record(t.string, WholeNumber),
    /** Nothing of the resource is being done, because it is paused, or may begin nothing. */
    isAtRest: t.boolean,
    /** Why a freeze keeps it from beginning what comes next. */
    closed: Closed,
    /** It is upgraded, and checks of the inventory are asked after it. */
    isUnchecked: t.boolean,
    /** When the maintenance window closes that has opened meanwhile (epoch milliseconds). */
    windowClosesAt: WholeNumber,
  },
);
export type HostsReport = t.TypeOf<typeof HostsReport>;

/**
 * How often a Workflow has written its memo, in the memo and in answers to Queries: it tells which of the two is newer
 * (docs/decisions/0025). Absent before a Workflow has written anything.
 */
export interface Published {
  readonly published?: number;
}

/** A memo is as old as its last write, a Timestamp: a Task that is read from it says so. */
export interface Dated {
  readonly publishedAt: string;
}

/** The run of a resource's Workflow; the next upgrade of the resource has the same Workflow ID. */
export interface ChildRun {
  readonly resourceId: string;
  readonly workflowId: string;
  readonly runId: string;
}

export interface TaskWithChildren extends Published {
  readonly task: Task;
  readonly children: readonly ChildRun[];
}

/** Memo of an upgrade: what is read while no worker answers, in lists, and after the end. */
export interface UpgradeMemo extends TaskWithChildren, Dated {
  readonly upgrade: Upgrade;
  /** How long its clusters took; absent before its end, and where no host was done. */
  readonly work?: readonly ClusterWork[];
  /** Who had it started. */
  readonly requestedBy?: string;
  /** Digest of the request that started it, where it came with an Idempotency-Key. */
  readonly requestDigest?: string;
  /** The `x-request-id` of the HTTP request that started it, for log lines and for whoever looks at the Web UI. */
  readonly requestId?: string;
  /** How far it is with its locks; absent before it has got any. */
  readonly locks?: LockState;
}

/** Memo of a resource's Workflow. */
export interface ResourceMemo extends Published, Dated {
  readonly upgradeId: string;
  /** Names for upgrades that find its lock held. */
  readonly upgradeName: string;
  readonly resourceName: string;
  readonly subTask: SubTask;
  /** The `x-request-id` of the HTTP request that made its upgrade start it; absent where none did. */
  readonly requestId?: string;
}

export interface ClusterUpgradeInput {
  readonly upgradeId: string;
  readonly waits: ActivityWaits;
  readonly checked?: ResourceChecksPlan;
  readonly cluster: ClusterUpgradePlan;
  /** Ids of hosts that earlier attempts of this upgrade have upgraded. */
  readonly upgradedBefore: readonly string[];
}

export interface NetvirtUpgradeInput {
  readonly upgradeId: string;
  readonly waits: ActivityWaits;
  readonly checked?: ResourceChecksPlan;
  readonly netvirt: NetvirtUpgradePlan;
}

export interface MgmtUpgradeInput {
  readonly upgradeId: string;
  readonly waits: ActivityWaits;
  readonly checked?: ResourceChecksPlan;
  readonly mgmt: MgmtUpgradePlan;
}

/** The Workflow of any resource, as its upgrade starts it. */
export type ResourceWorkflow = (
  input: ClusterUpgradeInput | NetvirtUpgradeInput | MgmtUpgradeInput,
) => Promise<ResourceResult>;

/** What a resource's Workflow leaves to its upgrade; small, because the upgrade keeps one of each. */
export interface ResourceResult {
  readonly outcome: ResourceOutcome;
  readonly hosts: HostCounts;
  /** Ids of the hosts that run the target version because of this upgrade. */
  readonly upgradedHosts: readonly string[];
  /** How many of its hosts run which version, as last read; absent where none was. */
  readonly versions?: VersionCounts;
  readonly error?: ErrorBody;
}

/** A notification for a receiver that an earlier run has left undelivered. */
export interface PendingDelivery {
  /** Id of the receiver. */
  readonly receiver: string;
  /** That of the notification. */
  readonly sequence: number;
  /** When it is given up (epoch milliseconds). */
  readonly until: number;
}

/** What the Workflow of an upgrade's notifications has come to. */
export interface NotifyResult {
  readonly delivered: number;
  /** Those that no attempt has delivered in time. */
  readonly givenUp: number;
}

/** All but the first three is what an earlier run of the Workflow hands over. */
export interface NotifyInput extends Partial<NotifyResult> {
  readonly upgradeId: string;
  readonly receivers: readonly PlannedReceiver[];
  /** What has happened; of an earlier run, what {@link PendingDelivery} names, each once. */
  readonly notices: readonly UpgradeNotification[];
  readonly pending?: readonly PendingDelivery[];
  /** The latest of all, delivered or not. */
  readonly latest?: UpgradeNotification;
  /** Ids of receivers that want no more. */
  readonly gone?: readonly string[];
  readonly upgradeEnded?: boolean;
  /** Whether the upgrade may have ended, which has to be found out. */
  readonly look?: boolean;
}

/** What the Temporal Web UI says of each Query; requests are described where they are decided. */
export const queryDescriptions = {
  task: "The Task of the upgrade, without the hosts of its clusters.",
  upgrade: "The upgrade with its phase, what it waits for and how many hosts are done.",
  request: "The outcome of a request: accepted or refused, and why. Input: its requestId, a JSON string.",
  activity: "Who requested what of the upgrade, and what happened.",
  taskWithChildren: "For the service itself: the Task, and the Workflows of its clusters.",
} as const;
