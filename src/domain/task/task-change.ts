import * as E from "fp-ts/Either";
import * as t from "io-ts";
import { model } from "../codec";
import { decodeJson } from "../decode";
import { ErrorBody } from "../errors";
import { readinessType } from "../readiness/readiness-task";
import { SubTask, Task, TaskHeader } from "../spec/task";
import { precheckType } from "./prechecks";
import { hasEndedPart } from "./sub-task";

/**
 * A SubTask that has changed. `path` is its JSON Pointer (RFC 6901) in the Task, such as `/subTasks/1/subTasks/0`. Where
 * `whole` is true, `subTask` is all of it; else it comes without `subTasks`, and those that are known stay.
 */
export const SubTaskChange = model({ path: t.string, whole: t.boolean, subTask: SubTask }, {});
export type SubTaskChange = t.TypeOf<typeof SubTaskChange>;

/** From one state of a Task to the next: its header where that has changed, and the SubTasks that have. */
export const TaskChange = model({ subTasks: t.array(SubTaskChange) }, { task: TaskHeader });
export type TaskChange = t.TypeOf<typeof TaskChange>;

/** What leads from one state of a Task to the next: nothing, a change, or only the new state as a whole. */
export type TaskUpdate =
  | { readonly type: "NONE" }
  | { readonly type: "CHANGE"; readonly change: TaskChange }
  /** The list of the Task's own SubTasks has another length: prechecks have run again. */
  | { readonly type: "SNAPSHOT" };

/** What has changed between two states of one Task. Takes time in proportion to their size and copies only what differs. */
export function taskUpdate(before: Task, after: Task): TaskUpdate {
  const { subTasks: partsBefore, ...headerBefore } = before;
  const { subTasks: partsAfter, ...headerAfter } = after;
  if (!areListsAlike(partsBefore, partsAfter)) return { type: "SNAPSHOT" };
  const subTasks: SubTaskChange[] = [];
  collectAll("", partsBefore, partsAfter, subTasks);
  const isHeaderSame = isSameJson(headerBefore, headerAfter);
  if (isHeaderSame && subTasks.length === 0) return { type: "NONE" };
  return { type: "CHANGE", change: { subTasks, ...(!isHeaderSame && { task: headerAfter }) } };
}

/** The Task after a change of it. What the change does not name is kept as it is; a path that is not there names nothing. */
export function applyTaskChange(task: Task, { task: header, subTasks: changes }: TaskChange): Task {
  const { subTasks: parts, ...known } = task;
  const changed = parts && changes.reduce((all, change) => replaceAt(all, steps(change.path), change), parts);
  return { ...(header ?? known), ...(changed && { subTasks: changed }) };
}

/** How many SubTasks a change holds, with all that are nested in them. */
export function subTasksIn({ subTasks }: TaskChange): number {
  return subTasks.reduce((sum, { subTask }) => sum + partsIn(subTask), 0);
}

/** How many SubTasks a Task or SubTask holds, with itself and all that are nested in it. */
export function partsIn({ subTasks = [] }: Pick<SubTask, "subTasks">): number {
  return subTasks.reduce((sum, part) => sum + partsIn(part), 1);
}

type Parts = readonly SubTask[] | undefined;

function areListsAlike(before: Parts, after: Parts): boolean {
  return before?.length === after?.length;
}

function collectAll(path: string, before: Parts, after: Parts, found: SubTaskChange[]): void {
  after?.forEach((part, i) => {
    const earlier = before?.[i];
    if (earlier) collect(`${path}/subTasks/${i}`, earlier, part, found);
  });
}

function collect(path: string, before: SubTask, after: SubTask, found: SubTaskChange[]): void {
  if (before === after) return;
  if (!areListsAlike(before.subTasks, after.subTasks)) {
    found.push({ path, whole: true, subTask: after });
    return;
  }
  const { subTasks: _before, ...ownBefore } = before;
  const { subTasks: _after, ...ownAfter } = after;
  if (!isSameJson(ownBefore, ownAfter)) found.push({ path, whole: false, subTask: ownAfter });
  collectAll(path, before.subTasks, after.subTasks, found);
}

function steps(path: string): number[] {
  return [...path.matchAll(/\/subTasks\/(\d+)/g)].map(([, index]) => Number(index));
}

function replaceAt(parts: SubTask[], [index, ...deeper]: readonly number[], change: SubTaskChange): SubTask[] {
  return parts.map((part, i) => {
    if (i !== index) return part;
    if (deeper.length === 0) return replacement(part, change);
    return part.subTasks ? { ...part, subTasks: replaceAt(part.subTasks, deeper, change) } : part;
  });
}

function replacement({ subTasks }: SubTask, { whole, subTask }: SubTaskChange): SubTask {
  return whole || !subTasks ? subTask : { ...subTask, subTasks };
}

/** Whether two values are the same JSON; the order of fields says nothing. */
function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) && isSameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  );
}

/** What a client knows of a Task by its events (docs/events.md). */
export interface FollowedTask {
  readonly task?: Task;
  /** What has led to this state of the Task; absent where the service has told the state as a whole. */
  readonly change?: TaskChange;
  /** Why the service cannot read the Task for now; `task` is then what was known before. */
  readonly unavailable?: ErrorBody;
  readonly hasEnded: boolean;
}

/** Before the first event. */
export const nothingKnown: FollowedTask = { hasEnded: false };

/**
 * What is known after one more event. Left of an event that cannot be understood, or a change of something unknown: the
 * only way on is then to ask for a snapshot.
 */
export function applyTaskEvent(
  known: FollowedTask,
  { event, data }: { readonly event?: string | undefined; readonly data: string },
): E.Either<string, FollowedTask> {
  const { task } = known;
  switch (event) {
    case "snapshot":
      return read(data, Task, (snapshot) => ({ task: snapshot, hasEnded: false }));
    case "change":
      if (!task) return E.left("A change arrived before the first snapshot.");
      return read(data, TaskChange, (change) => ({ task: applyTaskChange(task, change), change, hasEnded: false }));
    case "unavailable":
      return read(data, ErrorBody, (unavailable) => ({ ...known, unavailable }));
    case "available": {
      const { unavailable: _over, ...rest } = known;
      return E.right(rest);
    }
    case "end":
      return E.right({ ...known, hasEnded: true });
    default:
      return E.right(known);
  }
}

function read<A>(
  data: string,
  codec: t.Decoder<unknown, A>,
  next: (value: A) => FollowedTask,
): E.Either<string, FollowedTask> {
  const decoded = decodeJson(codec, data);
  return E.isRight(decoded) ? E.right(next(decoded.right)) : E.left("An event has an unexpected form.");
}

/** An upgrade of more resources keeps their stages in their own Workflows only. */
const mostWithStages = 64;

/**
 * A Task as its upgrade's memo has it, which is to stay below half of what Temporal takes (docs/scaling.md). What goes on
 * in a resource its own Workflow knows, and readers take it from there; where it has none, none of its stages has begun.
 */
export function taskInMemo(task: Task): Task {
  if ((task.resources ?? []).length <= mostWithStages) return task;
  if (task.type === readinessType) return withoutErrorsTwice(task);
  return {
    ...task,
    ...(task.subTasks && {
      subTasks: task.subTasks.map((part) =>
        part.type === precheckType ? withoutErrorsTwice(part) : withoutStages(part),
      ),
    }),
  };
}

function withoutStages({ subTasks, ...product }: SubTask): SubTask {
  return { ...product, ...(subTasks && { subTasks: subTasks.map(({ stages: _, ...resource }) => resource) }) };
}

/** Findings that are errors of their Stage are told by these. */
function withoutErrorsTwice<T extends Pick<SubTask, "subTasks">>({ subTasks, ...run }: T) {
  const trimmed = subTasks?.map(({ stages, ...part }): SubTask => ({
    ...part,
    ...(stages && {
      stages: stages.map(({ findings, ...stage }) => {
        const messages = new Set(stage.errors?.map(({ message }) => message));
        const others = findings?.filter(({ message }) => !messages.has(message)) ?? [];
        return { ...stage, ...(others.length > 0 && { findings: others }) };
      }),
    }),
  }));
  return { ...run, ...(trimmed && { subTasks: trimmed }) };
}

/** Ids of the resources that have ended, as the upgrade itself knows. */
export function endedResources({ subTasks = [] }: Task): ReadonlySet<string> {
  const products = subTasks.filter(({ type }) => type !== precheckType);
  const ended = products.flatMap(({ subTasks: resources = [] }) => resources.filter(hasEndedPart));
  return new Set(ended.map(({ resources }) => resources?.[0]?.resourceId ?? ""));
}
