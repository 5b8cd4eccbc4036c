import type { ErrorBody } from "../../domain/errors";
import type { Stage, SubTask, Task } from "../../domain/spec/task";
import { checksType } from "../../domain/task/own-checks";
import { precheckType } from "../../domain/task/prechecks";
import { ownErrors, stageErrors } from "./own-errors";

/** One line of the tree of a Task. `key` stays the same while the Task changes. */
export type TaskRow = {
  readonly key: string;
  readonly level: number;
  /** Which of how many rows with the same parent, counted from 1. */
  readonly position: number;
  readonly setSize: number;
} & (
  | { readonly kind: "PART"; readonly part: SubTask; readonly isOpen: boolean; readonly hasInside: boolean }
  | { readonly kind: "STAGE"; readonly stage: Stage; readonly isOwnCheck: boolean }
  | { readonly kind: "ERROR"; readonly error: ErrorBody }
);

/** What somebody has opened or closed, by the key of the row. */
export type Choices = ReadonlyMap<string, boolean>;

/** What is shown of a Task: everything, or only what has failed and what holds that. */
export type RowFilter = "ALL" | "FAILED";

/**
 * The lines of a Task that show, in their order, without its prechecks, which have a section of their own. What runs or
 * has failed is open unless somebody has closed it, what waits or is done is closed unless somebody has opened it. An error
 * that a part repeats of a part in it shows once.
 */
export function taskRows({ subTasks = [] }: Task, choices: Choices, filter: RowFilter = "ALL"): TaskRow[] {
  const rows: TaskRow[] = [];
  addParts(rows, subTasks, "", 1, { choices, filter, before: 0, others: 0 });
  return rows;
}

/** Where in the rows an operator wants to look first: at what has failed, else at what runs; -1 where there is neither. */
export function firstOfInterest(rows: readonly TaskRow[]): number {
  const innermost = (status: string) => {
    let found = -1;
    for (const [i, row] of rows.entries()) {
      if (row.kind !== "PART" || row.part.status !== status) continue;
      if (row.level <= (rows[found]?.level ?? 0)) break;
      found = i;
    }
    return found;
  };
  const failed = innermost("FAILED");
  return failed === -1 ? innermost("IN_PROGRESS") : failed;
}

interface Environment {
  readonly choices: Choices;
  readonly filter: RowFilter;
  /** Rows with the same parent that come before these, and how many of them there are besides these. */
  readonly before: number;
  readonly others: number;
}

function addParts(rows: TaskRow[], parts: readonly SubTask[], key: string, level: number, around: Environment): void {
  const { choices, filter, before, others } = around;
  // The index is of all parts: a row keeps its key when the filter changes.
  const shown = parts.flatMap((part, i) => (isShown(part, filter) ? [{ part, i }] : []));
  shown.forEach(({ part, i }, n) => {
    const place = { level, position: before + n + 1, setSize: others + shown.length };
    addPart(rows, part, `${key}/subTasks/${i}`, place, { choices, filter });
  });
}

function isShown(part: SubTask, filter: RowFilter): boolean {
  return part.type !== precheckType && (filter === "ALL" || hasFailed(part));
}

type Place = Pick<TaskRow, "level" | "position" | "setSize">;

function addPart(
  rows: TaskRow[],
  part: SubTask,
  key: string,
  place: Place,
  { choices, filter }: Pick<Environment, "choices" | "filter">,
): void {
  const { subTasks = [] } = part;
  const stages = (part.stages ?? []).map((stage, i) => ({ stage, i }));
  const ownStages = filter === "ALL" ? stages : stages.filter(({ stage }) => stage.status === "FAILED");
  const own = ownErrors(part);
  const inside = filter === "ALL" ? subTasks.length : subTasks.filter(hasFailed).length;
  const setSize = ownStages.length + inside + own.length;
  const isOpen = setSize > 0 && (choices.get(key) ?? (part.status === "IN_PROGRESS" || part.status === "FAILED"));
  rows.push({ ...place, key, kind: "PART", part, isOpen, hasInside: setSize > 0 });
  if (!isOpen) return;
  const level = place.level + 1;
  own.forEach((error, n) =>
    rows.push({ key: `${key}/errors/${n}`, level, position: n + 1, setSize, kind: "ERROR", error }),
  );
  ownStages.forEach(({ stage, i }, n) => {
    const stageKey = `${key}/stages/${i}`;
    rows.push({
      key: stageKey,
      level,
      position: own.length + n + 1,
      setSize,
      kind: "STAGE",
      stage,
      isOwnCheck: part.type === checksType,
    });
    const ofStage = stageErrors(part, stage);
    ofStage.forEach((error, j) =>
      rows.push({
        key: `${stageKey}/errors/${j}`,
        level: level + 1,
        position: j + 1,
        setSize: ofStage.length,
        kind: "ERROR",
        error,
      }),
    );
  });
  const before = own.length + ownStages.length;
  addParts(rows, subTasks, key, level, { choices, filter, before, others: before });
}

/** Whether there is anything that the filter FAILED shows. */
export function anyFailed({ subTasks = [] }: Task): boolean {
  return subTasks.some((part) => isShown(part, "FAILED"));
}

const failedParts = new WeakMap<SubTask, boolean>();

/** Whether something of a part has failed; parts that a change does not touch are looked at once. */
function hasFailed(part: SubTask): boolean {
  const known = failedParts.get(part);
  if (known !== undefined) return known;
  const failed =
    part.status === "FAILED" ||
    (part.stages ?? []).some(({ status }) => status === "FAILED") ||
    (part.subTasks ?? []).some(hasFailed);
  failedParts.set(part, failed);
  return failed;
}

/** The key of the part that holds a row; undefined of the outermost ones. */
export function parentKey(key: string): string | undefined {
  const parent = key.replace(/\/[^/]+\/\d+$/, "");
  return parent === "" ? undefined : parent;
}

/** The keys of all parts that hold a row, the innermost first. */
export function parentKeys(key: string): string[] {
  const parent = parentKey(key);
  return parent === undefined ? [] : [parent, ...parentKeys(parent)];
}
