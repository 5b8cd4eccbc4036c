import type { SubTask, SubTaskStatus } from "../spec/task";
import { endStages } from "./resource-stages";
import { hasEndedPart, interrupted, withPause } from "./sub-task";

/** A change that happens in one status only. */
export function from(status: SubTaskStatus, change: (part: SubTask) => SubTask) {
  return (part: SubTask): SubTask => (part.status === status ? change(part) : part);
}

/** A part that is in work now. */
export function begin(part: SubTask): SubTask {
  return { ...part, status: "IN_PROGRESS" };
}

/** A part that ends at `at` as its own parts have ended. */
export function endWithParts(part: SubTask, at: string): SubTask {
  const subTasks = part.subTasks?.map((inner) => endPart(inner, at, false));
  return {
    ...withPause(part, false),
    status: statusOfParts(part),
    completionTimestamp: at,
    ...(subTasks && { subTasks }),
  };
}

/** What never began does not apply any more; what was under way was interrupted or ends with its parts. */
export function endPart(part: SubTask, at: string, cancelled: boolean): SubTask {
  const subTasks = part.subTasks?.map((inner) => endPart(inner, at, cancelled));
  if (part.status === "PENDING") {
    const { stages: _neverBegun, ...rest } = part;
    return {
      ...rest,
      ...(cancelled && { description: "Not started, because the upgrade was cancelled." }),
      status: "NOT_APPLICABLE",
      reasonCode: "NOT_STARTED",
      completionTimestamp: at,
      ...(subTasks && { subTasks }),
    };
  }
  if (part.status !== "IN_PROGRESS") return part;
  const error = cancelled ? interrupted(part.name) : undefined;
  return {
    ...withPause(part, false),
    status: "FAILED",
    completionTimestamp: at,
    ...(part.stages && { stages: endStages(part.stages, at, error) }),
    ...(subTasks && { subTasks }),
    ...(error && { errors: [error] }),
  };
}

/** A change to the resource with this id among the parts of a product or of a run of prechecks. */
export function withResource(part: SubTask, resourceId: string, change: (resource: SubTask) => SubTask): SubTask {
  const concerns = (inner: SubTask) => inner.resources?.[0]?.resourceId === resourceId;
  return { ...part, ...(part.subTasks && { subTasks: part.subTasks.map((s) => (concerns(s) ? change(s) : s)) }) };
}

/** A part whose turn never came keeps the whole from success, as one that failed does. */
export function statusOfParts({ subTasks = [] }: SubTask): SubTaskStatus {
  if (subTasks.some((part) => part.status === "FAILED" || !hasEndedPart(part))) return "FAILED";
  if (subTasks.every((part) => part.status === "NOT_APPLICABLE")) return "NOT_APPLICABLE";
  return "SUCCESSFUL";
}
