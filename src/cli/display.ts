import type { Task } from "../domain/task";
import type { Followed } from "./follow-task";

/** Shows a Task while it changes. A notice says what is in the way for now; `undefined` that nothing is any more. */
export interface Display {
  show(followed: Extract<Followed, { type: "TASK" }>): void;
  notice(message: string | undefined): void;
  /** `task` as it was last, where anything is known of it; `hasEnded` tells that it will not change. */
  close(task: Task | undefined, hasEnded: boolean): void;
}
