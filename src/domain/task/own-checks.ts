import type { CheckPoint, PlannedCheck } from "../checks/own-check";
import type { SubTask, Task } from "../spec/task";
import { checkStage } from "./check-stages";
import { precheckType } from "./prechecks";

/** The `type` of the checks of the inventory among the SubTasks of a Task. */
export const checksType = "CHECKS";

/** Checks of the inventory that have not been asked, a Stage for each. */
export function checksSubTask(checks: readonly PlannedCheck[], at: string): SubTask {
  return {
    name: "Checks before the upgrade",
    type: checksType,
    description: "Ask the checks of the inventory before anything begins.",
    status: "PENDING",
    creationTimestamp: at,
    stages: checks.map((check) => checkStage(check, "BEFORE_UPGRADE", at)),
  };
}

/** The checks that are asked at a point. */
export function checksAt(checks: readonly PlannedCheck[] | undefined, point: CheckPoint): readonly PlannedCheck[] {
  return (checks ?? []).filter(({ at }) => at.includes(point));
}

/** A Task with other checks in the place of its former ones. */
export function withChecks(task: Task, checks: SubTask): Task {
  const subTasks = task.subTasks ?? [];
  const others = subTasks.filter(({ type }) => type !== checksType);
  const { isPaused } = subTasks.find(({ type }) => type === checksType) ?? {};
  const shown = isPaused === undefined ? checks : { ...checks, isPaused };
  const first = others.findLastIndex(({ type }) => type === precheckType) + 1;
  return { ...task, subTasks: [...others.slice(0, first), shown, ...others.slice(first)] };
}
