import type { Task } from "../../src/domain/spec/task";
import { precheckType } from "../../src/domain/task/prechecks";

/** Whether a draft has run its prechecks; before them it is pending as well. */
export function waitsForCommit({ status, subTasks = [] }: Task): boolean {
  const runs = subTasks.filter(({ type }) => type === precheckType);
  return status === "Pending" && runs.at(-1)?.completionTimestamp !== undefined;
}
