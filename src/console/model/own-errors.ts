import type { ErrorBody } from "../../domain/errors";
import type { SubTask, Task } from "../../domain/spec/task";
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

// A change of a Task keeps the parts that it does not touch, so that only few are looked at again.
const toldIn = new WeakMap<SubTask, ReadonlySet<string>>();

/** The messages of all errors of a part, however deep in it. */
function messagesIn(part: SubTask): ReadonlySet<string> {
  const known = toldIn.get(part);
  if (known) return known;
  const { errors = [] } = part;
  const all = new Set([...errors.map(({ message }) => message), ...messagesBelow(part)]);
  toldIn.set(part, all);
  return all;
}

function messagesBelow({ stages = [], subTasks = [] }: Pick<SubTask, "stages" | "subTasks">): Set<string> {
  const below = new Set<string>();
  for (const { errors = [] } of stages) for (const { message } of errors) below.add(message);
  for (const part of subTasks) for (const message of messagesIn(part)) below.add(message);
  return below;
}

/**
 * The errors of a part, or of a whole Task, that no part in it tells. An error shows once, where it happened; of one that
 * sums up others remains what is not told there.
 */
export function ownErrors(part: Pick<SubTask, "errors" | "stages" | "subTasks">): ErrorBody[] {
  const { errors = [] } = part;
  if (errors.length === 0) return [];
  const below = messagesBelow(part);
  return errors.filter(({ message }) => !below.has(message)).map((error) => withoutTold(error, below));
}

function withoutTold(error: ErrorBody, told: ReadonlySet<string>): ErrorBody {
  const { nestedErrors, ...rest } = error;
  if (!nestedErrors) return error;
  const left = nestedErrors.filter(({ message }) => !told.has(message));
  return left.length === 0 ? rest : { ...rest, nestedErrors: left };
}

/** Where in the steps of a Task something went wrong, by error code; its prechecks are left out. */
export function errorGroups({ subTasks = [] }: Task): ErrorGroup[] {
  const groups = new Map<string | undefined, Map<string, ErrorPlace>>();
  const visit = (part: SubTask, key: string) => {
    if (messagesIn(part).size === 0) return;
    const errors = [...ownErrors(part), ...(part.stages ?? []).flatMap((stage) => stage.errors ?? [])];
    for (const { errorCode } of errors) {
      const places = groups.get(errorCode) ?? new Map<string, ErrorPlace>();
      groups.set(errorCode, places.set(key, { key, name: part.name }));
    }
    (part.subTasks ?? []).forEach((inner, i) => visit(inner, `${key}/subTasks/${i}`));
  };
  subTasks.forEach((part, i) => part.type !== precheckType && visit(part, `/subTasks/${i}`));
  return [...groups].map(([errorCode, places]) => ({ errorCode, places: [...places.values()] }));
}
