import type { ErrorBody } from "../errors";
import { Closed } from "../opening";
import type { MgmtUpgradePlan, NetvirtUpgradePlan } from "../plan/upgrade-plan";
import type { ReasonCode, SubTask, SubTaskStatus, TaskResource, WaitingFor } from "../spec/task";
import { endStages } from "./resource-stages";

/** How a resource's part of an upgrade ended. WITHIN_TOLERANCE: hosts failed, no more than its policy allows. */
export type ResourceOutcome =
  "SUCCESSFUL" | "WITHIN_TOLERANCE" | "NOTHING_TO_DO" | "FAILED" | "CANCELLED" | "NOT_BEGUN";

const statusAfter: Readonly<Record<ResourceOutcome, SubTaskStatus>> = {
  SUCCESSFUL: "SUCCESSFUL",
  WITHIN_TOLERANCE: "SUCCESSFUL",
  NOTHING_TO_DO: "NOT_APPLICABLE",
  FAILED: "FAILED",
  CANCELLED: "FAILED",
  NOT_BEGUN: "NOT_APPLICABLE",
};

/** Why a resource with this outcome does not apply; absent where it does. */
const reasonAfter: Partial<Record<ResourceOutcome, ReasonCode>> = {
  NOTHING_TO_DO: "AT_TARGET",
  NOT_BEGUN: "NOT_STARTED",
};

interface Ending {
  readonly outcome: ResourceOutcome;
  readonly error?: ErrorBody;
}

/** A management server, or the manager of a NETVIRT instance, as its SubTask names it. */
export function serverResource(
  type: "MGMT_SERVER" | "NETVIRT_MANAGER",
  { resourceId, name, fqdn, sans }: MgmtUpgradePlan | NetvirtUpgradePlan,
): TaskResource {
  return { resourceId, name, type, ...(fqdn !== undefined && { fqdn }), ...(sans && { sans: [...sans] }) };
}

/** Whether nothing more happens to a part of a Task. */
export function hasEndedPart({ status }: SubTask): boolean {
  return status !== "PENDING" && status !== "IN_PROGRESS";
}

function endedAs(outcome: ResourceOutcome): Pick<SubTask, "status" | "reasonCode"> {
  const reasonCode = reasonAfter[outcome];
  return { status: statusAfter[outcome], ...(reasonCode && { reasonCode }) };
}

/** A resource that ended at `at`, with each of its parts as `endPart` ends it. */
export function endResource(
  subTask: SubTask,
  { outcome, error }: Ending,
  at: string,
  endPart: (part: SubTask) => SubTask,
): SubTask {
  const { stages = [], ...rest } = atWork(withPause(subTask, false));
  const ended = endStages(stages, at, error);
  return {
    ...rest,
    ...endedAs(outcome),
    completionTimestamp: at,
    ...(ended.length > 0 && { stages: ended }),
    ...(subTask.subTasks && { subTasks: subTask.subTasks.map(endPart) }),
    ...(error && { errors: [error] }),
  };
}

/** What the upgrade itself keeps of a resource that has ended: how it went, without its stages and parts. */
export function resultSubTask(
  initial: SubTask,
  { outcome, error }: Ending,
  { description, at }: { readonly description: string; readonly at: string },
): SubTask {
  const { stages: _ofItsOwnWorkflow, ...subTask } = initial;
  return {
    ...subTask,
    ...endedAs(outcome),
    description,
    completionTimestamp: at,
    ...(error && { errors: [error] }),
  };
}

/**
 * A resource as its upgrade (`known`) and its own Workflow (`own`) together show it. Its own Workflow knows the parts;
 * where that ended without a word (terminated, say), its upgrade knows how it ended, and `endPart` ends each part.
 */
export function mergeEnded(
  known: SubTask,
  own: SubTask,
  endPart: (part: SubTask, at: string, errors: ErrorBody[] | undefined) => SubTask,
): SubTask {
  if (!hasEndedPart(known) || hasEndedPart(own)) return own;
  const at = known.completionTimestamp ?? own.creationTimestamp;
  return {
    ...atWork(withPause(own, false)),
    ...(known.reasonCode && { reasonCode: known.reasonCode }),
    status: known.status,
    description: known.description,
    completionTimestamp: at,
    stages: endStages(own.stages ?? [], at, known.errors?.[0]),
    subTasks: (own.subTasks ?? []).map((part) => endPart(part, at, known.errors)),
    ...(known.errors && { errors: known.errors }),
  };
}

/** Error of something that was under way when the upgrade was cancelled (docs/spec-gaps.md, interrupted). */
export function interrupted(what: string): ErrorBody {
  return {
    errorCode: "CANCELLED",
    errorType: "CANCELLED",
    message: `${what} was running when the upgrade was cancelled.`,
    remediationMessage: "Check its state in the component manager before starting another upgrade.",
  };
}

/** What stands before the description of a part of which nothing new starts. */
const sign = "Paused: running work finishes; nothing new starts until the upgrade is resumed.";

/** The part saying, or no longer saying, that it is paused, before whatever else it says of itself. */
export function withPause(part: SubTask, paused: boolean): SubTask {
  if ((part.isPaused ?? false) === paused) return part;
  const { isPaused: _, ...rest } = part;
  return paused
    ? { ...part, isPaused: true, description: `${sign} ${part.description}` }
    : { ...rest, description: spoken(part) };
}

/** The part with another description; that it is paused it goes on saying. */
export function describePart(part: SubTask, description: string): SubTask {
  return { ...part, description: part.isPaused ? `${sign} ${description}` : description };
}

/** A part that waits for something, and says so. */
export function waitingPart(part: SubTask, waitingFor: WaitingFor): SubTask {
  return { ...describePart(part, waitingFor.message), waitingFor };
}

/** The part waiting for the end of a freeze or a hold, or for the maintenance window; at work again where there is none. */
export function withClosure(part: SubTask, closed: Closed | undefined): SubTask {
  if (closed) return waitingPart(part, closed);
  if (!Closed.is(part.waitingFor)) return part;
  return describePart(atWork(part), `${reopened[part.waitingFor.code]}; the upgrade continues.`);
}

const reopened: Readonly<Record<Closed["code"], string>> = {
  FROZEN: "The freeze was lifted",
  WINDOW: "The maintenance window is open",
  HELD: "The hold was released",
  CHECK: "The check no longer delays it",
};

/** A part that waits for nothing any more. */
export function atWork({ waitingFor: _, ...part }: SubTask): SubTask {
  return part;
}

/** The description of a part without the words that it is paused. */
export function spoken({ isPaused, description }: SubTask): string {
  return isPaused ? description.slice(sign.length + 1) : description;
}

/** Hosts, nodes or servers by how far they are. `skipped` needed nothing; `left` have not begun, or are left out. */
export interface HostCounts {
  readonly total: number;
  readonly upgraded: number;
  readonly skipped: number;
  readonly failed: number;
  readonly left: number;
  /** Those that the upgrade is not to upgrade, which no other number counts; absent where there are none. */
  readonly leftOut?: number;
}

/** How many hosts there are of each kind where nothing is in work any more: what was has failed. */
export function interruptedHosts(hosts: HostCounts): HostCounts {
  const { total, upgraded, skipped, left } = hosts;
  return { ...hosts, failed: Math.max(0, total - upgraded - skipped - left) };
}

/** Counts parts by their status; those that needed nothing have the reason AT_TARGET. */
export function countParts(parts: readonly SubTask[]): HostCounts {
  const of = (...statuses: SubTaskStatus[]) => parts.filter(({ status }) => statuses.includes(status)).length;
  const skipped = parts.filter(({ reasonCode }) => reasonCode === "AT_TARGET").length;
  return {
    total: parts.length,
    upgraded: of("SUCCESSFUL"),
    skipped,
    failed: of("FAILED"),
    left: of("PENDING", "NOT_APPLICABLE") - skipped,
  };
}
