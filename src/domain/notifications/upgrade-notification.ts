import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "../codec";
import type { ErrorBody } from "../errors";
import { toldChangeRecord } from "../spec/change-record";
import type { UpgradePhase } from "../spec/upgrade";
import { Timestamp } from "../timestamp";

/** What receivers of notifications are told of; the type of its CloudEvent (docs/notifications.md). */
export const NotificationType = OneOf(
  "upgrade.draft.ready",
  "upgrade.prechecks.failed",
  "upgrade.approval.wanted",
  "upgrade.scheduled",
  "upgrade.start.missed",
  "upgrade.started",
  "upgrade.host.failed",
  "upgrade.wait.long",
  "upgrade.window.ending",
  "upgrade.paused",
  "upgrade.resumed",
  "upgrade.cancel.requested",
  "upgrade.successful",
  "upgrade.failed",
  "upgrade.decision.due",
  "upgrade.cancelled",
  "upgrade.resolved",
  "upgrade.expired",
  "upgrade.lost",
);
export type NotificationType = t.TypeOf<typeof NotificationType>;

const NotificationError = model(
  { message: t.string },
  { errorCode: t.string, remediationMessage: t.string, resourceId: t.string },
);

const NotificationHosts = model({ failed: WholeNumber, total: WholeNumber }, {});

const NotificationResource = model({ resourceId: t.string, name: t.string }, {});

/** What an operator is wanted for. */
export const Wanted = OneOf(
  "COMMIT",
  "PRECHECKS",
  "APPROVAL",
  "RESUME",
  "RETRY_OR_RESOLVE",
  "RESOLVE",
  "CHECK_RESOURCES",
);
export type Wanted = t.TypeOf<typeof Wanted>;

/**
 * What an upgrade waits for. `code` is that of the Task's `waitingFor`, or `RESUME` of a paused upgrade, or `RETRY` of a step
 * that fails and is tried again, or `WORKER` of one that no worker has taken.
 */
export const LongWait = model({ code: t.string, message: t.string }, { resourceId: t.string, since: Timestamp });
export type LongWait = t.TypeOf<typeof LongWait>;

/**
 * The `data` of a notification: what a person needs to decide whether to look. `status` and `taskStatus` are those of
 * Upgrade and Task at that moment; `link` is the console's page; `resources` are the first ten of `resourceCount`. `requestedBy` has caused it and is absent
 * where the service did it by itself; `createdBy` has had the upgrade started. `resourceId` and `hosts` are only there where
 * hosts have failed, `lateSeconds` where the work has begun after its time.
 */
export const NotificationData = model(
  {
    upgradeId: t.string,
    name: t.string,
    bundleId: t.string,
    status: t.string,
    taskStatus: t.string,
    errors: t.array(NotificationError),
  },
  {
    resources: t.array(NotificationResource),
    resourceCount: WholeNumber,
    link: t.string,
    createdBy: t.string,
    ...toldChangeRecord,
    requestedBy: t.string,
    beginsAt: Timestamp,
    decideBy: Timestamp,
    windowClosesAt: Timestamp,
    wanted: Wanted,
    waitingFor: LongWait,
    resourceId: t.string,
    hosts: NotificationHosts,
    lateSeconds: WholeNumber,
  },
);
export type NotificationData = t.TypeOf<typeof NotificationData>;

/**
 * One notification. `id` is made of the upgrade and `sequence`, so that it is the same however often it is delivered
 * and to whom. A codec, because it comes to its Workflow by Signal.
 */
export const UpgradeNotification = model(
  { id: t.string, sequence: WholeNumber, type: NotificationType, time: t.string, data: NotificationData },
  {},
);
export type UpgradeNotification = t.TypeOf<typeof UpgradeNotification>;

/** Of a receiver what an upgrade keeps: neither its URL nor its secrets, which must not reach a history. */
export interface PlannedReceiver {
  /** Its id in the inventory. */
  readonly id: string;
  /** What it wants to be told; absent means everything. */
  readonly events?: readonly NotificationType[];
  /** Hours after which a notification that cannot be delivered is given up. */
  readonly retryHours: number;
}

/** Whether a receiver wants notifications of a type. */
export function wants({ events }: PlannedReceiver, type: NotificationType): boolean {
  return events === undefined || events.includes(type);
}

/** After which nothing more happens to an upgrade. */
const lastOnes: ReadonlySet<NotificationType> = new Set([
  "upgrade.successful",
  "upgrade.cancelled",
  "upgrade.resolved",
  "upgrade.expired",
  "upgrade.lost",
]);

/** Whether a notification is the last of its upgrade. */
export function endsUpgrade({ type }: Pick<UpgradeNotification, "type">): boolean {
  return lastOnes.has(type);
}

/** The Workflow ID of the notifications of an upgrade, of all of its runs. */
export function notifyWorkflowId(upgradeId: string): string {
  return `notify/${upgradeId}`;
}

/** The id of a notification: that of its CloudEvent and its `webhook-id`. */
export function notificationId(upgradeId: string, sequence: number): string {
  return `${upgradeId}-${sequence}`;
}

interface PhaseChange {
  readonly from: UpgradePhase;
  readonly to: UpgradePhase;
  /** Errors with which the phase was entered. */
  readonly errors: readonly ErrorBody[];
  /** Whether the latest prechecks have failed. */
  readonly prechecksFailed: boolean;
}

/** What a change of phase is to receivers, in the order in which they are told; most changes are nothing. */
export function notificationsOfPhase({ from, to, errors, prechecksFailed }: PhaseChange): readonly NotificationType[] {
  switch (to) {
    case "DRAFT_WAITING":
      return [prechecksFailed ? "upgrade.prechecks.failed" : "upgrade.draft.ready"];
    case "PAUSED":
      return ["upgrade.paused"];
    case "RUNNING":
      return from === "PAUSED" ? ["upgrade.resumed"] : [];
    case "SUCCESSFUL":
    case "SUCCESSFUL_WITH_WARNING":
    case "NOTHING_TO_DO":
      return ["upgrade.successful"];
    case "FAILED": {
      const byPrechecks = errors.some(({ errorCode }) => errorCode === "PRECHECKS_FAILED");
      return [...(byPrechecks ? (["upgrade.prechecks.failed"] as const) : []), "upgrade.failed"];
    }
    case "CANCELLED":
      return ["upgrade.cancelled"];
    default:
      return [];
  }
}

/** Where an upgrade stands, as far as it depends on that what is wanted. */
interface Standing {
  /** Whether it is a draft that has not been committed. */
  readonly draft: boolean;
  /** Of a failed upgrade, whether a retry may succeed. */
  readonly retryable: boolean;
  /** What it waits for. */
  readonly waitingFor?: LongWait | undefined;
}

/** Codes of waits that an operator ends. */
const longWaitsWanted = ["RESUME", "COMMIT", "APPROVAL"] as const;

/** What an operator is wanted for after something happened; undefined where for nothing. */
export function wantedAfter(type: NotificationType, { draft, retryable, waitingFor }: Standing): Wanted | undefined {
  switch (type) {
    case "upgrade.draft.ready":
    case "upgrade.start.missed":
      return "COMMIT";
    case "upgrade.prechecks.failed":
      return draft ? "PRECHECKS" : undefined;
    case "upgrade.approval.wanted":
      return "APPROVAL";
    case "upgrade.paused":
      return "RESUME";
    case "upgrade.wait.long":
      return longWaitsWanted.find((one) => one === waitingFor?.code);
    case "upgrade.failed":
    case "upgrade.decision.due":
      return retryable ? "RETRY_OR_RESOLVE" : "RESOLVE";
    case "upgrade.lost":
      return "CHECK_RESOURCES";
    default:
      return undefined;
  }
}

/** The resources of an upgrade as its notifications name them: the first ten, and how many there are. */
export function notificationResources(
  resources: readonly { readonly resourceId: string; readonly name: string }[],
): Pick<NotificationData, "resources" | "resourceCount"> {
  const first = resources.slice(0, 10).map(({ resourceId, name }) => ({ resourceId, name: short(name) }));
  return { resources: first, resourceCount: resources.length };
}

/** Errors as a notification holds them: the first ten, in few words, without their nested errors. */
export function notificationErrors(errors: readonly ErrorBody[]): NotificationData["errors"] {
  return errors.slice(0, 10).map(({ errorCode, message, remediationMessage, context }) => ({
    message: short(message),
    ...(errorCode !== undefined && { errorCode }),
    ...(remediationMessage !== undefined && { remediationMessage: short(remediationMessage) }),
    ...(context?.["resourceId"] !== undefined && { resourceId: context["resourceId"] }),
  }));
}

function short(text: string): string {
  const longest = 500;
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
