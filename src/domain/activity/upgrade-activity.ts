import * as t from "io-ts";
import { described, model, OneOf, Text, WholeNumber } from "../codec";
import { PageMetadata } from "../page";
import { MgmtUpgradePatchSpecs } from "../spec/upgrade-spec";
import { Timestamp } from "../timestamp";

const text = (description: string) => described(Text, description);
const count = (description: string) => described(WholeNumber, description);
const time = (description: string) => described(Timestamp, description);

/** What operators ask of an upgrade. Each such entry has an outcome. */
export const requestKinds = [
  "CREATE",
  "COMMIT",
  "RESCHEDULE",
  "PAUSE",
  "RESUME",
  "PRECHECKS",
  "RETRY",
  "RESOLVE",
  "CANCEL",
] as const;

/** What an entry of an upgrade's activity is about: a request of an operator, or what happened to the upgrade. */
export const ActivityKind = OneOf(
  ...requestKinds,
  "PRECHECKS_PASSED",
  "PRECHECKS_FAILED",
  "START_MISSED",
  "STARTED",
  "HOST_FAILED",
  "RESOURCE_SUCCEEDED",
  "RESOURCE_FAILED",
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
export const ActivityVia = OneOf("HTTP", "SIGNAL", "TEMPORAL");
export type ActivityVia = t.TypeOf<typeof ActivityVia>;

/** What the upgrade, or the API for it, made of a request. */
export const ActivityOutcome = OneOf("ACCEPTED", "REFUSED");
export type ActivityOutcome = t.TypeOf<typeof ActivityOutcome>;

/** Numbers of the hosts of a resource when it ended. */
const EndedHosts = model(
  {
    total: count("All hosts."),
    upgraded: count("Hosts that this upgrade has brought to the target version."),
    skipped: count("Hosts that ran the target version before."),
    failed: count("Hosts that failed."),
    left: count("Hosts that were not begun."),
  },
  {},
);

/** What an entry says beside its kind, as data. */
export const ActivityDetails = model(
  {},
  {
    draft: t.boolean,
    scheduledTimestamp: time("The time that was asked for."),
    upgradeNow: t.boolean,
    mgmtUpgradePatchSpecs: MgmtUpgradePatchSpecs,
    precheckRun: count("Which run of the prechecks it is or asks for; the first is 1."),
    lateSeconds: count("How many seconds after its time the work has begun."),
    hosts: EndedHosts,
  },
);
export type ActivityDetails = t.TypeOf<typeof ActivityDetails>;

/** One entry of an upgrade's activity: who asked what and what became of it, or what happened. */
export const ActivityEntry = model(
  {
    sequence: count("Its place in the activity, from 1 on. Numbers that are missing are entries that were dropped."),
    time: time("When it happened; of a request, when the upgrade decided on it."),
    kind: ActivityKind,
  },
  {
    actor: text("Who asked, as authenticated by the API, or as the sender of a Signal has named himself."),
    via: ActivityVia,
    outcome: ActivityOutcome,
    errorCode: text("Why it was refused, or what failed: a code of the service's error codes."),
    message: text("The same for people."),
    resourceId: text("Id of the cluster, NETVIRT instance or management server that it concerns."),
    resourceName: text("The name of that resource."),
    hostId: text("Id of the host that it concerns."),
    hostName: text("The name of that host."),
    details: ActivityDetails,
    repeated: count("How often the same request was refused again for the same reason, with nothing else in between."),
    lastTime: time("When it was last repeated."),
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
    dropped: count("How many entries are no longer kept. They come after the first that are."),
    asOf: time("Present where no worker answered: the activity as it was known then."),
  },
);
export type PageOfActivity = t.TypeOf<typeof PageOfActivity>;

/** What is known of one entry before it has its place. */
export type NewActivity = Omit<ActivityEntry, "sequence" | "repeated" | "lastTime">;
