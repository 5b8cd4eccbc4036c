import * as E from "fp-ts/Either";
import type * as t from "io-ts";
import { decodeJson } from "./decode-json";
import { ErrorBody } from "./error-body";
import { Task } from "./task";
import { applyTaskChange, TaskChange } from "./task-change";

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
      if (!task) return E.left("A change came before any snapshot.");
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
  return E.isRight(decoded) ? E.right(next(decoded.right)) : E.left("An event could not be understood.");
}
