import type { ErrorBody } from "./error-body";
import { atWork, withPause } from "./paused-part";
import { endStages } from "./resource-stages";
import type { ReasonCode, SubTask, SubTaskStatus } from "./task";

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
    message: `${what} was under way when the upgrade was cancelled.`,
    remediationMessage: "Check its state in the component manager before starting another upgrade.",
  };
}
