import { setTimeout as sleep } from "node:timers/promises";
import DataLoader from "dataloader";
import { DriverError } from "../driver-error";
import type { TaskInfo } from "./vlcm-models";

/** Tasks in one call: the ids of so many make a URL of some 5 KB, which every server takes. */
const mostTasks = 50;

/** How long a task is waited with at most while another call is under way (milliseconds). */
const longestGathering = 250;

interface TaskCalls {
  readOne(task: string): Promise<TaskInfo>;
  /** Those that the component manager knows. */
  readMany(tasks: readonly string[]): Promise<Readonly<Record<string, TaskInfo>>>;
}

/**
 * Reads tasks of one component manager: whoever asks while a call is under way shares the next one, so that thousands of
 * remediations that are watched at the same time cost a few calls a second. A single task is read at once, by itself.
 */
export function gatheredTasks({ readOne, readMany }: TaskCalls): (task: string) => Promise<TaskInfo> {
  let underWay: Promise<unknown> = Promise.resolve();

  const oneByOne = (tasks: readonly string[]) =>
    Promise.all(tasks.map((task) => readOne(task).catch((error: unknown) => asError(error))));

  async function read(tasks: readonly string[]): Promise<(TaskInfo | Error)[]> {
    const once = [...new Set(tasks)];
    const found = once.length === 1 ? {} : await readMany(once).catch(unlessRefused);
    const missing = once.filter((task) => found[task] === undefined);
    const told = await oneByOne(missing);
    return tasks.map((task) => found[task] ?? told[missing.indexOf(task)] ?? new Error(`nothing was read of ${task}`));
  }

  const loader = new DataLoader<string, TaskInfo>(
    (tasks) => {
      const reading = read(tasks);
      underWay = reading.catch(() => undefined);
      return reading;
    },
    {
      cache: false,
      maxBatchSize: mostTasks,
      batchScheduleFn: (dispatch) =>
        void Promise.race([underWay, sleep(longestGathering, undefined, { ref: false })]).then(dispatch),
    },
  );
  return (task) => loader.load(task);
}

/** A manager that lists no tasks to us may still tell of each: that is then asked. */
function unlessRefused(error: unknown): Readonly<Record<string, TaskInfo>> {
  if (error instanceof DriverError && error.kind === "permanent") return {};
  throw error;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
