import * as t from "io-ts";
import { Legible } from "../../../src/domain/legible";

// What the APIs of one component manager have in common, by the same rules as the models of each.

export const LocalizableMessage = t.type({ default_message: Legible });

const Notification = t.type({ message: LocalizableMessage });

export const Notifications = t.partial({ errors: t.array(Notification), warnings: t.array(Notification) });
export type Notifications = t.TypeOf<typeof Notifications>;

export const Progress = t.type({ total: t.number, completed: t.number, message: LocalizableMessage });
export type Progress = t.TypeOf<typeof Progress>;

export const TaskInfo = t.intersection([
  t.type({ status: t.string, operation: t.string, service: t.string, cancelable: t.boolean }),
  t.partial({
    progress: Progress,
    target: t.type({ type: t.string, id: t.string }),
    start_time: t.string,
    result: t.unknown,
    error: t.unknown,
    description: LocalizableMessage,
  }),
]);
/** A long-running operation: PENDING, RUNNING, BLOCKED, SUCCEEDED or FAILED. A FAILED one may have its reason in `result`. */
export type TaskInfo = t.TypeOf<typeof TaskInfo>;

/** The texts of notifications. */
export function textsOf(notifications: Notifications["errors"]): string[] {
  return (notifications ?? []).map(({ message }) => message.default_message);
}

/** Percent done, where a total is told. */
export function percentOf(progress: Progress | undefined): number | undefined {
  if (!progress || progress.total <= 0) return undefined;
  return Math.max(0, Math.min(100, Math.round((progress.completed / progress.total) * 100)));
}

/** Whether a task has ended; a state that is not known has not. */
export function hasEnded({ status }: TaskInfo): boolean {
  return status === "SUCCEEDED" || status === "FAILED";
}
