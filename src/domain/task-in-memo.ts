import type { SubTask, Task } from "./task";
import { precheckType } from "./task-prechecks";

/** An upgrade of more resources keeps their stages in their own Workflows only. */
const mostWithStages = 64;

/**
 * A Task as its upgrade's memo has it, which is to stay below half of what Temporal takes (docs/scaling.md). What goes on
 * in a resource its own Workflow knows, and readers take it from there; where it has none, none of its stages has begun.
 */
export function taskInMemo(task: Task): Task {
  if ((task.resources ?? []).length <= mostWithStages) return task;
  return {
    ...task,
    ...(task.subTasks && {
      subTasks: task.subTasks.map((part) => (part.type === precheckType ? part : withoutStages(part))),
    }),
  };
}

function withoutStages({ subTasks, ...product }: SubTask): SubTask {
  return { ...product, ...(subTasks && { subTasks: subTasks.map(({ stages: _, ...resource }) => resource) }) };
}
