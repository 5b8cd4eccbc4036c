import type { ErrorBody } from "../../domain/errors";
import type { Stage, SubTask, Task } from "../../domain/spec/task";
import { checksType } from "../../domain/task/own-checks";
import { precheckType } from "../../domain/task/prechecks";

/** Hosts, servers and other parts with one error code, each with its row in the tree of steps. */
export interface ErrorGroup {
  readonly errorCode: string | undefined;
  readonly places: readonly ErrorPlace[];
}

/** `key` is that of its row ({@link taskRows}). */
export interface ErrorPlace {
  readonly key: string;
  readonly name: string;
}

/** Errors by their messages; what a message is of is its code. */
type Told = ReadonlyMap<string, string | undefined>;

// A change of a Task keeps the parts that it does not touch, so that only few are looked at again.
const toldIn = new WeakMap<SubTask, Told>();

/** All errors of a part, however deep in it. */
function errorsIn(part: SubTask): Told {
  const known = toldIn.get(part);
  if (known) return known;
  const { errors = [], stages = [], subTasks = [] } = part;
  const ofStages = stages.flatMap((stage) => stage.errors ?? []);
  const own = [...errors, ...ofStages].map(({ message, errorCode }) => [message, errorCode] as const);
  const all = new Map([...own, ...errorsOf(subTasks)]);
  toldIn.set(part, all);
  return all;
}

function errorsOf(parts: readonly SubTask[]): Map<string, string | undefined> {
  const all = new Map<string, string | undefined>();
  for (const part of parts) for (const [message, code] of errorsIn(part)) all.set(message, code);
  return all;
}

/**
 * The errors of a part, or of a whole Task, that no part in it tells. An error shows once, where it happened; of one that
 * sums up others remains what is not told there.
 */
export function ownErrors(part: Pick<SubTask, "errors" | "stages" | "subTasks">): ErrorBody[] {
  const { errors = [], stages = [], subTasks = [] } = part;
  if (errors.length === 0) return [];
  const below = errorsOf(subTasks);
  for (const stage of stages) for (const { message, errorCode } of stage.errors ?? []) below.set(message, errorCode);
  return errors.filter((error) => !below.has(error.message)).map((error) => withoutTold(error, below));
}

/**
 * The errors of a Task that say more than its parts. The error of a cluster is passed on to the Task with more words around
 * it, but with its code.
 */
export function taskErrors(task: Task): ErrorBody[] {
  const codes = new Set(errorsOf(task.subTasks ?? []).values());
  return ownErrors(task).filter(({ errorCode }) => errorCode === undefined || !codes.has(errorCode));
}

/** The errors of a stage of a part that no part in that tells. */
export function stageErrors({ subTasks = [] }: SubTask, { errors = [] }: Stage): ErrorBody[] {
  if (errors.length === 0) return [];
  const below = errorsOf(subTasks);
  return errors.filter((error) => !below.has(error.message)).map((error) => withoutTold(error, below));
}

/**
 * Those of a Task's own errors that an earlier attempt has left, and those of now. A Task keeps what failed before a retry; of
 * one that has succeeded with warnings that is what its resource has got over.
 */
export function splitErrors(task: Task): { readonly now: readonly ErrorBody[]; readonly past: readonly ErrorBody[] } {
  const { status, waitingFor, subTasks = [] } = task;
  // One that is blocked says so in its last error.
  if ((status === "In Progress" && waitingFor?.code !== "WORKFLOW_TASK_FAILING") || status === "Successful")
    return { now: [], past: ownErrors(task) };
  const all = taskErrors(task);
  if (status !== "COMPLETED_WITH_WARNING") return { now: all, past: [] };
  const done = new Set(
    subTasks
      .filter(({ type }) => type !== precheckType)
      .flatMap((product) => product.subTasks ?? [])
      .filter((part) => part.status === "SUCCESSFUL")
      .map(({ resources = [] }) => resources[0]?.resourceId),
  );
  const isPast = ({ errorCode, context }: ErrorBody) =>
    errorCode !== "PRECHECK_WARNINGS" && context?.["resourceId"] !== undefined && done.has(context["resourceId"]);
  return { now: all.filter((error) => !isPast(error)), past: all.filter(isPast) };
}

function withoutTold(error: ErrorBody, told: Told): ErrorBody {
  const { nestedErrors, ...rest } = error;
  if (!nestedErrors) return error;
  const left = nestedErrors.filter((nested) => !told.has(nested.message));
  return left.length === 0 ? rest : { ...rest, nestedErrors: left };
}

/** Where in the steps of a Task something went wrong, by error code; its prechecks are left out. */
export function errorGroups({ subTasks = [] }: Task): ErrorGroup[] {
  const groups = new Map<string | undefined, Map<string, ErrorPlace>>();
  const visit = (part: SubTask, key: string) => {
    if (errorsIn(part).size === 0) return;
    const add = ({ errorCode }: ErrorBody, place: ErrorPlace) =>
      groups.set(errorCode, (groups.get(errorCode) ?? new Map<string, ErrorPlace>()).set(place.key, place));
    for (const error of ownErrors(part)) add(error, { key, name: part.name });
    (part.stages ?? []).forEach((stage, i) => {
      // Own checks are Stages of one part, and each is what an operator looks for.
      const place =
        part.type === checksType ? { key: `${key}/stages/${i}`, name: stage.name } : { key, name: part.name };
      for (const error of stageErrors(part, stage)) add(error, place);
    });
    (part.subTasks ?? []).forEach((inner, i) => visit(inner, `${key}/subTasks/${i}`));
  };
  subTasks.forEach((part, i) => part.type !== precheckType && visit(part, `/subTasks/${i}`));
  return [...groups].map(([errorCode, places]) => ({ errorCode, places: [...places.values()] }));
}
