import type { ErrorBody } from "../../domain/error-body";
import type { Stage, SubTask, Task } from "../../domain/task";

/** One line of the tree of a Task. `key` stays the same while the Task changes. */
export type TaskRow = { readonly key: string; readonly level: number } & (
  | { readonly kind: "PART"; readonly part: SubTask; readonly isOpen: boolean; readonly hasInside: boolean }
  | { readonly kind: "STAGE"; readonly stage: Stage }
  | { readonly kind: "ERROR"; readonly error: ErrorBody }
);

/** What somebody has opened or closed, by the key of the row. */
export type Choices = ReadonlyMap<string, boolean>;

/**
 * The lines of a Task that show, in their order. What runs or has failed is open unless somebody has closed it, what
 * waits or is done is closed unless somebody has opened it. An error that a part repeats of a part in it shows once.
 */
export function taskRows({ subTasks = [] }: Task, choices: Choices): TaskRow[] {
  const rows: TaskRow[] = [];
  subTasks.forEach((part, i) => addPart(rows, part, `/subTasks/${i}`, 1, choices));
  return rows;
}

function addPart(rows: TaskRow[], part: SubTask, key: string, level: number, choices: Choices): void {
  const { stages = [], subTasks = [], errors = [] } = part;
  const own = errors.filter((error) => !isToldInside(part, error));
  const hasInside = stages.length + subTasks.length + own.length > 0;
  const isOpen = hasInside && (choices.get(key) ?? (part.status === "IN_PROGRESS" || part.status === "FAILED"));
  rows.push({ key, level, kind: "PART", part, isOpen, hasInside });
  if (!isOpen) return;
  own.forEach((error, i) => rows.push({ key: `${key}/errors/${i}`, level: level + 1, kind: "ERROR", error }));
  stages.forEach((stage, i) => {
    const stageKey = `${key}/stages/${i}`;
    rows.push({ key: stageKey, level: level + 1, kind: "STAGE", stage });
    stage.errors?.forEach((error, j) =>
      rows.push({ key: `${stageKey}/errors/${j}`, level: level + 2, kind: "ERROR", error }),
    );
  });
  subTasks.forEach((inner, i) => addPart(rows, inner, `${key}/subTasks/${i}`, level + 1, choices));
}

function isToldInside({ stages = [], subTasks = [] }: SubTask, { message }: ErrorBody): boolean {
  return [...stages, ...subTasks].some(({ errors = [] }) => errors.some((inner) => inner.message === message));
}

/** The key of the part that holds a row; undefined of the outermost ones. */
export function parentKey(key: string): string | undefined {
  const parent = key.replace(/\/[^/]+\/\d+$/, "");
  return parent === "" ? undefined : parent;
}
