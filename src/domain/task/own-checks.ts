import { type CheckPoint, checkError, type CheckAnswer, type PlannedCheck } from "../checks/own-check";
import type { Stage, SubTask, Task } from "../spec/task";
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
    stages: checks.map(({ id, kind }) => ({
      name: `Check ${id}`,
      type: `${kind}_CHECK`,
      description: "Not asked yet.",
      status: "PENDING",
      creationTimestamp: at,
    })),
  };
}

/** The checks that are asked at a point. */
export function checksAt(checks: readonly PlannedCheck[] | undefined, point: CheckPoint): readonly PlannedCheck[] {
  return (checks ?? []).filter(({ at }) => at.includes(point));
}

/** The Stage of a check that is asked, or waited for: `text` is what it said last. */
export function askedStage(stage: Stage, text = "Asked; no answer yet."): Stage {
  const { completionTimestamp: _, errors: __, ...rest } = stage;
  return { ...rest, status: "IN_PROGRESS", description: text };
}

/** The Stage of a check that was answered at `at`. */
export function answeredStage(stage: Stage, check: PlannedCheck, answer: CheckAnswer, at: string): Stage {
  const passed = answer.verdict === "PASSED";
  const text = answer.text === "" ? (passed ? "Passed." : "Not passed.") : answer.text;
  return {
    ...stage,
    status: passed ? "SUCCESSFUL" : "FAILED",
    description: text,
    completionTimestamp: at,
    ...(!passed && { errors: [checkError(check, answer)] }),
  };
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
