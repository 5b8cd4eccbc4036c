import { AsyncLocalStorage } from "node:async_hooks";

/** The Activity that is run: the upgrade it works for, and what was last told of its component manager. */
export interface TaskContext {
  readonly taskId: string;
  /** Outcome and error code of the last call that failed, so that an outage is told once and not at every poll. */
  lastTrouble?: string | undefined;
}

const contexts = new AsyncLocalStorage<TaskContext>();

/** Runs something on behalf of an upgrade. */
export function withTask<A>(context: TaskContext, run: () => A): A {
  return contexts.run(context, run);
}

/** The upgrade on whose behalf this runs; undefined outside of Activities. */
export function currentTask(): TaskContext | undefined {
  return contexts.getStore();
}
