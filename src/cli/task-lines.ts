import type { SubTask, Task } from "../domain/task";
import { headline, summary } from "./progress-tree";
import { wordOf } from "./style";
import { printable } from "./printable";

/**
 * What has happened between two states of a Task, a line for each part whose status or stage has changed: for logs and
 * for whoever has no terminal. Without an earlier state, what has begun already.
 */
export function linesOfChange(before: Task | undefined, after: Task, now: number): string[] {
  const lines = partLines(before?.subTasks, after.subTasks, "");
  const isNew = !before || before.status !== after.status || headline(before) !== headline(after);
  const wait = before?.waitingFor?.code !== after.waitingFor?.code && after.waitingFor;
  return [
    ...lines,
    ...(isNew ? [`${summary(after, now)}   ${headline(after)}`] : []),
    ...(wait ? [`! ${printable(wait.message)}`] : []),
  ];
}

function partLines(before: readonly SubTask[] = [], after: readonly SubTask[] = [], path: string): string[] {
  return after.flatMap((part, index) => {
    const earlier = before[index];
    if (earlier === part) return [];
    const name = `${path}${printable(part.name)}`;
    const below = partLines(earlier?.subTasks, part.subTasks, `${name} > `);
    const own = ownLine(earlier, part);
    // What a part begins with comes before what happens in it, its end after.
    if (own === undefined) return below;
    return part.status === "IN_PROGRESS" ? [`${name}: ${own}`, ...below] : [...below, `${name}: ${own}`];
  });
}

function ownLine(before: SubTask | undefined, after: SubTask): string | undefined {
  const isNew = before?.status !== after.status;
  if (after.status === "PENDING") return undefined;
  if (after.status === "IN_PROGRESS") {
    const stage = stageOf(after);
    if (!isNew && (stage === undefined || stage === stageOf(before))) return undefined;
    return stage === undefined ? wordOf(after.status) : printable(stage);
  }
  if (!isNew) return undefined;
  const error = after.errors?.at(-1)?.message;
  return error === undefined ? wordOf(after.status) : `${wordOf(after.status)}: ${printable(error)}`;
}

function stageOf(part: SubTask | undefined): string | undefined {
  return part?.stages?.find(({ status }) => status === "IN_PROGRESS")?.name;
}
