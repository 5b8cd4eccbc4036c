import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "../codec";
import { PageMetadata } from "../page";
import { toldChangeRecord } from "../spec/change-record";
import { MaintenanceChoice, MgmtUpgradePatchSpecs } from "../spec/upgrade-spec";
import { Timestamp } from "../timestamp";

/** What operators ask of an upgrade. Each such entry has an outcome. */
export const requestKinds = [
  "CREATE",
  "COMMIT",
  "RESCHEDULE",
  "PAUSE",
  "RESUME",
  "PRECHECKS",
  "APPROVE",
  "REJECT",
  "ACKNOWLEDGE",
  "SKIP",
  "RETRY",
  "RESOLVE",
  "CANCEL",
] as const;

/** What an entry of an upgrade's activity is about: a request of an operator, or what happened to the upgrade. */
export const ActivityKind = OneOf(
  ...requestKinds,
  "PRECHECKS_PASSED",
  "PRECHECKS_FAILED",
  "APPROVALS_DROPPED",
  "START_MISSED",
  "STARTED",
  "FROZEN",
  "THAWED",
  "WINDOW_CLOSED",
  "WINDOW_OPENED",
  "HELD",
  "RELEASED",
  "CHECK_AWAITED",
  "CHECK_ENDED",
  "CHECK_FAILED",
  "HOST_FAILED",
  "RESOURCE_SUCCEEDED",
  "RESOURCE_FAILED",
  "RESOURCE_LEFT_OUT",
  "FAILED",
  "SUCCEEDED",
  "SUCCEEDED_WITH_WARNINGS",
  "NOTHING_TO_DO",
  "RESOLVED",
  "EXPIRED",
  "CANCELLED",
);
export type ActivityKind = t.TypeOf<typeof ActivityKind>;

/** By which way a request reached the upgrade. TEMPORAL: a cancellation by Temporal's own tools. */
export const ActivityVia = OneOf("HTTP", "SIGNAL", "UPDATE", "TEMPORAL");
export type ActivityVia = t.TypeOf<typeof ActivityVia>;

/** What the upgrade, or the API for it, made of a request. */
export const ActivityOutcome = OneOf("ACCEPTED", "REFUSED");
export type ActivityOutcome = t.TypeOf<typeof ActivityOutcome>;

/** Host counts of a resource when it ended. */
export const EndedHosts = model(
  {
    total: WholeNumber,
    upgraded: WholeNumber,
    skipped: WholeNumber,
    failed: WholeNumber,
    left: WholeNumber,
  },
  {},
);

/** What an entry says beside its kind, as data. */
export const ActivityDetails = model(
  {},
  {
    draft: t.boolean,
    scheduledTimestamp: Timestamp,
    upgradeNow: t.boolean,
    mgmtUpgradePatchSpecs: MgmtUpgradePatchSpecs,
    precheckRun: WholeNumber,
    lateSeconds: WholeNumber,
    hosts: EndedHosts,
    ...toldChangeRecord,
    maintenanceWindow: MaintenanceChoice,
    comment: t.string,
    finding: t.string,
    subject: t.string,
    until: Timestamp,
    resourceIds: t.array(t.string),
    resourceCount: WholeNumber,
  },
);
export type ActivityDetails = t.TypeOf<typeof ActivityDetails>;

/** One entry of an upgrade's activity: who asked what and what became of it, or what happened. */
export const ActivityEntry = model(
  {
    sequence: WholeNumber,
    time: Timestamp,
    kind: ActivityKind,
  },
  {
    actor: t.string,
    via: ActivityVia,
    outcome: ActivityOutcome,
    errorCode: t.string,
    message: t.string,
    resourceId: t.string,
    resourceName: t.string,
    hostId: t.string,
    hostName: t.string,
    details: ActivityDetails,
    repeated: WholeNumber,
    lastTime: Timestamp,
  },
);
export type ActivityEntry = t.TypeOf<typeof ActivityEntry>;

/** The entries that an upgrade keeps, oldest first, and how many it has dropped. What its Query `activity` answers. */
export const ActivityRecord = model({ entries: t.array(ActivityEntry), dropped: WholeNumber }, {});
export type ActivityRecord = t.TypeOf<typeof ActivityRecord>;

/** One page of an upgrade's activity. */
export const PageOfActivity = model(
  {},
  {
    elements: t.array(ActivityEntry),
    pageMetadata: PageMetadata,
    dropped: WholeNumber,
    asOf: Timestamp,
  },
);
export type PageOfActivity = t.TypeOf<typeof PageOfActivity>;

/** What is known of one entry before it has its place. */
export type NewActivity = Omit<ActivityEntry, "sequence" | "repeated" | "lastTime">;
