import * as t from "io-ts";
import { model, OneOf, WholeNumber } from "../codec";
import { ErrorBody } from "../errors";
import { PageMetadata } from "../page";
import { Bundle } from "./bundle";
import { type CanonicalTaskStatus, WaitingFor } from "./task";
import { NetvirtUpgradeUserInputSpec, ResourceType, ResourceUpgradeSpec } from "./upgrade-spec";

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

/** Where an upgrade is in its life. Each phase has exactly one pair of statuses ({@link statusOfPhase}). */
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

/** An upgrade as the list shows it (Spec 2.6). `endTime` is in epoch milliseconds. */
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
    /** What keeps it from beginning, where that is not only its time. */
    waitingFor: WaitingFor,
    /** Why the rest of it cannot be read. */
    errors: t.array(ErrorBody),
  },
);
export type Upgrade = t.TypeOf<typeof Upgrade>;

/** One page of the list of upgrades (Spec 2.7). */
export const PageOfUpgrade = model({}, { elements: t.array(Upgrade), pageMetadata: PageMetadata });
export type PageOfUpgrade = t.TypeOf<typeof PageOfUpgrade>;
