import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "../codec";
import { ErrorBody } from "../errors";
import { PageMetadata } from "../page";
import { Timestamp } from "../timestamp";
import { Bundle } from "./bundle";
import { toldChangeRecord } from "./change-record";
import { FindingCounts } from "./finding";
import { toldOverride } from "./maintenance-override";
import { RequestWarning } from "./request-warning";
import { ReasonCode, TaskResource, type CanonicalTaskStatus, WaitingFor } from "./task";
import {
  MgmtUpgradeUserInputSpec,
  NetvirtUpgradeUserInputSpec,
  ResourceType,
  ResourceUpgradeSpec,
} from "./upgrade-spec";

/** The values of `Upgrade.status`, which the specification does not list (docs/spec-gaps.md). */
export const UpgradeStatus = OneOf(
  "PENDING",
  "DRAFT",
  "SCHEDULED",
  "INPROGRESS",
  "PAUSED",
  "COMPLETED_WITH_SUCCESS",
  "COMPLETED_WITH_FAILURE",
  "CANCELLED",
);
export type UpgradeStatus = t.TypeOf<typeof UpgradeStatus>;

/**
 * Where an upgrade is, as clients read it: finer than the statuses of the specification. Derived by
 * `publishedPhase` (src/domain/upgrade/published-phase.ts).
 */
export const PublishedPhase = OneOf(
  "DRAFT_PRECHECKS",
  "DRAFT_READY",
  "PRECHECKS_FAILED",
  "SCHEDULED",
  "WAITING",
  "RUNNING",
  "PAUSING",
  "PAUSED",
  "CANCELLING",
  "ACTION_REQUIRED",
  "SUCCEEDED",
  "SUCCEEDED_WITH_WARNINGS",
  "RESOLVED",
  "CANCELLED",
  "FAILED",
);
export type PublishedPhase = t.TypeOf<typeof PublishedPhase>;

/**
 * Where an upgrade's Workflow is. Each phase has exactly one pair of statuses ({@link statusOfPhase}); what clients read is
 * the {@link PublishedPhase}.
 */
export type UpgradePhase =
  | "ACCEPTED"
  | "DRAFT_ACCEPTED"
  | "DRAFT_PRECHECKS"
  | "DRAFT_WAITING"
  | "SCHEDULED"
  /** It was not begun at its time, and now waits for a commit. */
  | "START_MISSED"
  | "RUNNING"
  | "PAUSED"
  | "SUCCESSFUL"
  | "SUCCESSFUL_WITH_WARNING"
  | "NOTHING_TO_DO"
  | "FAILED"
  | "CANCELLED";

interface Statuses {
  readonly task: CanonicalTaskStatus;
  readonly upgrade: UpgradeStatus;
}

const statuses: Record<UpgradePhase, Statuses> = {
  ACCEPTED: { task: "Pending", upgrade: "PENDING" },
  DRAFT_ACCEPTED: { task: "Pending", upgrade: "DRAFT" },
  DRAFT_PRECHECKS: { task: "In Progress", upgrade: "DRAFT" },
  DRAFT_WAITING: { task: "Pending", upgrade: "DRAFT" },
  SCHEDULED: { task: "Pending", upgrade: "SCHEDULED" },
  START_MISSED: { task: "Pending", upgrade: "SCHEDULED" },
  RUNNING: { task: "In Progress", upgrade: "INPROGRESS" },
  PAUSED: { task: "In Progress", upgrade: "PAUSED" },
  SUCCESSFUL: { task: "Successful", upgrade: "COMPLETED_WITH_SUCCESS" },
  SUCCESSFUL_WITH_WARNING: { task: "COMPLETED_WITH_WARNING", upgrade: "COMPLETED_WITH_SUCCESS" },
  NOTHING_TO_DO: { task: "SKIPPED", upgrade: "COMPLETED_WITH_SUCCESS" },
  FAILED: { task: "Failed", upgrade: "COMPLETED_WITH_FAILURE" },
  CANCELLED: { task: "Cancelled", upgrade: "CANCELLED" },
};

/** `Task.status` and `Upgrade.status` of a phase, so that the two can never disagree. */
export function statusOfPhase(phase: UpgradePhase): Statuses {
  return statuses[phase];
}

const ended: ReadonlySet<UpgradePhase> = new Set([
  "SUCCESSFUL",
  "SUCCESSFUL_WITH_WARNING",
  "NOTHING_TO_DO",
  "FAILED",
  "CANCELLED",
]);

/** Whether work has ended in this phase. A FAILED upgrade may still be retried; the others are final. */
export function hasEnded(phase: UpgradePhase): boolean {
  return ended.has(phase);
}

/** Hosts of an upgrade's clusters. `done` are at the target, `left` have not begun or were left out. */
export const UpgradeHosts = model(
  { total: WholeNumber, done: WholeNumber, running: WholeNumber, failed: WholeNumber, left: WholeNumber },
  /** Hosts of its clusters that it is not to upgrade, which no other number counts. */
  { leftOut: WholeNumber },
);
export type UpgradeHosts = t.TypeOf<typeof UpgradeHosts>;

/** A resource of the request that the upgrade leaves out, or a host of one that an operator leaves out, and why. */
export const LeftOutResource = model(
  { resourceId: t.string, name: t.string, reasonCode: ReasonCode },
  { hostId: t.string, hostName: t.string },
);
export type LeftOutResource = t.TypeOf<typeof LeftOutResource>;

/** How many hosts run a version. */
export const HostVersion = model({ version: t.string, hosts: WholeNumber }, {});
export type HostVersion = t.TypeOf<typeof HostVersion>;

/** A product that a bundle upgrades, as previews name it. */
export const Product = OneOf("NETVIRT", "MGMT", "HOSTOS");

/** From which versions an upgrade brings a product to which; `from` is absent until it has been read. */
export const ProductVersions = model({ product: Product, to: t.array(t.string) }, { from: t.array(t.string) });
export type ProductVersions = t.TypeOf<typeof ProductVersions>;

/** One approval of an upgrade as it is planned now. */
export const Approval = model({ by: t.string, at: Timestamp }, { comment: t.string });
export type Approval = t.TypeOf<typeof Approval>;

/**
 * How many approvals an upgrade needs before anything of it begins, and which it has. `askedBy`: who has asked for it as it is
 * planned, and so decides nothing.
 */
export const UpgradeApprovals = model(
  { required: WholeNumber, given: t.array(Approval) },
  { askedBy: t.array(t.string) },
);
export type UpgradeApprovals = t.TypeOf<typeof UpgradeApprovals>;

/**
 * An upgrade as the list shows it (Spec 2.6), with the facts that a row of it needs. `endTime` is in epoch milliseconds,
 * all other times are Timestamps.
 */
export const Upgrade = model(
  { id: t.string },
  {
    bundleId: t.string,
    resourceType: ResourceType,
    parallelUpgrade: t.boolean,
    resourceUpgradeSpecs: t.array(ResourceUpgradeSpec),
    status: UpgradeStatus,
    taskId: t.string,
    netvirtUpgradeUserInputSpec: NetvirtUpgradeUserInputSpec,
    bundle: Bundle,
    endTime: WholeNumber,
    name: t.string,
    phase: PublishedPhase,
    /** When the phase began. */
    since: Timestamp,
    /** When the phase ends by itself, where that is known: at its begin, or at the end of the time for a decision. */
    until: Timestamp,
    /** What it waits for, where it does. */
    waitingFor: WaitingFor,
    createdAt: Timestamp,
    createdBy: t.string,
    /** Of a draft. */
    committedAt: Timestamp,
    committedBy: t.string,
    /** Not before this time does the first of what is left begin; absent means at once. */
    beginsAt: Timestamp,
    /** When its first resource began. */
    startedAt: Timestamp,
    /** From when on nothing more begins until its maintenance window opens again; absent where none is open that closes. */
    windowClosesAt: Timestamp,
    /** Seconds of work without waiting; up to `workingSince` where that is present. */
    workSeconds: WholeNumber,
    /** Since when it works without waiting; absent while it does not. */
    workingSince: Timestamp,
    hosts: UpgradeHosts,
    /** By the hosts that are done; absent where there are too few of them, or something waits. */
    expectedEnd: Timestamp,
    /** Deadline for retrying or resolving a failed upgrade. */
    decideBy: Timestamp,
    /** Resources, and hosts that operators have named; absent where there are none. */
    leftOut: t.array(LeftOutResource),
    versions: t.array(ProductVersions),
    /** What the hosts run, as last read. */
    hostVersions: t.array(HostVersion),
    resources: t.array(TaskResource),
    draftMode: t.boolean,
    netvirtUpgradeUserInputSpecs: t.array(NetvirtUpgradeUserInputSpec),
    mgmtUpgradeUserInputSpecs: t.array(MgmtUpgradeUserInputSpec),
    ...toldChangeRecord,
    ...toldOverride,
    /** Absent where it needs none. */
    approvals: UpgradeApprovals,
    /** Of its prechecks; absent where they have found nothing. */
    findings: FindingCounts,
    /** What of its request has no effect. */
    warnings: t.array(RequestWarning),
    /** Why the rest of it cannot be read. */
    errors: t.array(ErrorBody),
  },
);
export type Upgrade = t.TypeOf<typeof Upgrade>;

/** One page of the list of upgrades (Spec 2.7). */
export const PageOfUpgrade = model({}, { elements: t.array(Upgrade), pageMetadata: PageMetadata });
export type PageOfUpgrade = t.TypeOf<typeof PageOfUpgrade>;
