import { legible } from "../legible";
import { labelTexts } from "../spec/change-record";
import type { NotificationData, NotificationType, UpgradeNotification, Wanted } from "./upgrade-notification";

/**
 * A notification for people. Every text is one line of at most 500 characters that may hold names from elsewhere: each format
 * escapes it.
 */
export interface NotificationText {
  /** What happened to which upgrade. */
  readonly title: string;
  /** What else there is to know, in its order. */
  readonly facts: readonly NotificationFact[];
  /** What went wrong, the first few errors, each followed by what to do about it. */
  readonly errors: readonly string[];
  /** What an operator is wanted for. */
  readonly wanted?: string;
  /** The console's page of the upgrade. */
  readonly link?: string;
}

interface NotificationFact {
  readonly label: string;
  readonly value: string;
}

const headlines: Readonly<Record<NotificationType, string>> = {
  "upgrade.draft.ready": "Draft ready",
  "upgrade.prechecks.failed": "Prechecks failed",
  "upgrade.approval.wanted": "Approval wanted",
  "upgrade.scheduled": "Scheduled",
  "upgrade.start.missed": "Start missed",
  "upgrade.started": "Started",
  "upgrade.host.failed": "Host failed",
  "upgrade.wait.long": "Long wait",
  "upgrade.window.ending": "Window closes soon",
  "upgrade.paused": "Paused",
  "upgrade.resumed": "Resumed",
  "upgrade.cancel.requested": "Cancellation requested",
  "upgrade.successful": "Successful",
  "upgrade.failed": "Failed",
  "upgrade.decision.due": "Decision due",
  "upgrade.cancelled": "Cancelled",
  "upgrade.resolved": "Resolved",
  "upgrade.expired": "Expired without a decision",
  "upgrade.lost": "Lost",
};

const wishes: Readonly<Record<Wanted, string>> = {
  COMMIT: "Commit the upgrade, or cancel it.",
  PRECHECKS: "Fix what the prechecks found, then run them again.",
  APPROVAL: "Approve or reject the upgrade, unless you requested it.",
  RESUME: "Resume the upgrade, or cancel it.",
  RETRY_OR_RESOLVE: "Fix what failed and retry the upgrade, or resolve it to give it up.",
  RESOLVE: "Resolve the upgrade; it cannot be retried.",
  CHECK_RESOURCES: "Check the resources in their component managers, then start a new upgrade.",
};

/** How many errors people are told of; the rest is on the Task. */
const errorsTold = 3;

/** What people are told. */
export function notificationText({ type, time, data }: UpgradeNotification): NotificationText {
  const { errors, wanted, link } = data;
  const told = errors.slice(0, errorsTold).flatMap(({ message, remediationMessage }) => [message, remediationMessage]);
  const more = errors.length > errorsTold ? [`and ${errors.length - errorsTold} more`] : [];
  return {
    title: line(`${headlineOf(type, data)}: ${data.name}`, 200),
    facts: factsOf(time, data),
    errors: [...told, ...more].flatMap((one) => (one ? [line(one, 500)] : [])),
    ...(wanted && { wanted: wishes[wanted] }),
    ...(link !== undefined && { link }),
  };
}

/** The first characters of a text on one line, as many as `longest`. */
export function line(text: string, longest: number): string {
  const legibly = legible(text).trim();
  const characters = Array.from(legibly);
  return characters.length <= longest ? legibly : `${characters.slice(0, longest - 1).join("")}…`;
}

/** The status of the Task says how an upgrade succeeded. */
function headlineOf(type: NotificationType, { taskStatus }: NotificationData): string {
  if (type !== "upgrade.successful") return headlines[type];
  if (taskStatus === "COMPLETED_WITH_WARNING") return "Completed with warnings";
  return taskStatus === "SKIPPED" ? "Nothing to upgrade" : "Successful";
}

function factsOf(time: string, data: NotificationData): NotificationFact[] {
  const { resources = [], resourceCount = resources.length, hosts, waitingFor, lateSeconds } = data;
  const left = resourceCount - resources.length;
  const names = [...resources.map(({ name }) => name), ...(left > 0 ? [`${left} more`] : [])].join(", ");
  const facts: readonly (readonly [label: string, value: string | undefined])[] = [
    ["Change", data.changeId],
    ["Reason", data.reason],
    ["Resources", names],
    ["Requested by", data.requestedBy],
    ["Begins", data.beginsAt && humanTime(data.beginsAt)],
    ["Late by", lateSeconds === undefined ? undefined : `${Math.round(lateSeconds / 60)} min`],
    ["Failed hosts", hosts && `${hosts.failed} of ${hosts.total}`],
    ["Waiting for", waitingFor?.message],
    ["Waiting since", waitingFor?.since && humanTime(waitingFor.since)],
    ["Window closes", data.windowClosesAt && humanTime(data.windowClosesAt)],
    ["Decide by", data.decideBy && humanTime(data.decideBy)],
    ["Created by", data.createdBy],
    ["Labels", labelTexts(data.labels).join(", ")],
    ["Time", humanTime(time)],
    ["Id", data.upgradeId],
  ];
  return facts.flatMap(([label, value]) => (value ? [{ label, value: line(value, 300) }] : []));
}

/** A Timestamp as people read it, without a zone to guess. */
function humanTime(timestamp: string): string {
  return timestamp.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");
}
