import { setTimeout as sleep } from "node:timers/promises";
import DataLoader from "dataloader";
import { DriverError } from "../driver-error";
import type { TaskInfo } from "./vlcm-models";

/** How long a question is waited with at most while another call is under way (milliseconds). */
const longestGathering = 250;

interface BatchedCalls<K, A> {
  /** One call for all of these keys, which may repeat; the answers, or the errors, in their order. */
  readonly askAll: (keys: readonly K[]) => Promise<(A | Error)[]>;
  /** So many keys in one call. */
  readonly most?: number;
  /** Milliseconds that each question waits for others; by default it waits only for a call that is under way. */
  readonly wait?: number;
}

/**
 * Whoever asks while a call is under way shares the next one, which begins after all of them have asked: nobody gets an answer
 * that is older than the question, and many that ask at the same time cost few calls. A single question is asked at once, unless
 * it is to wait. A call that fails fails for those who share it.
 */
export function batchCalls<K, A>({ askAll, most = Infinity, wait }: BatchedCalls<K, A>): (key: K) => Promise<A> {
  let underWay: Promise<unknown> = Promise.resolve();
  const untilAsked = () =>
    wait === undefined ? Promise.race([underWay, sleep(longestGathering, undefined, { ref: false })]) : sleep(wait);
  const loader = new DataLoader<K, A>(
    (keys) => {
      const asking = askAll(keys);
      underWay = asking.catch(() => undefined);
      return asking;
    },
    {
      cache: false,
      maxBatchSize: most,
      batchScheduleFn: (dispatch) => void untilAsked().then(dispatch),
    },
  );
  return (key) => loader.load(key);
}

/** Tasks in one call: the ids of so many make a URL of some 5 KB, which every server takes. */
const mostTasks = 50;

/** Milliseconds that a patient reader waits for others. */
const longestWait = 250;

interface TaskCalls {
  readOne(task: string): Promise<TaskInfo>;
  /** Those that the component manager knows. */
  readMany(tasks: readonly string[]): Promise<Readonly<Record<string, TaskInfo>>>;
}

/**
 * Reads tasks of one component manager, those that are asked for at the same time together ({@link batchCalls}). `mayWait`:
 * it may take a quarter of a second more, so that thousands of remediations that are watched cost a few calls a second.
 */
export function batchTaskReads({
  readOne,
  readMany,
}: TaskCalls): (task: string, mayWait?: boolean) => Promise<TaskInfo> {
  const oneByOne = (tasks: readonly string[]) =>
    Promise.all(tasks.map((task) => readOne(task).catch((error: unknown) => asError(error))));

  async function read(tasks: readonly string[]): Promise<(TaskInfo | Error)[]> {
    const once = [...new Set(tasks)];
    const found = once.length === 1 ? {} : await readMany(once).catch(unlessRefused);
    const missing = once.filter((task) => found[task] === undefined);
    const told = await oneByOne(missing);
    return tasks.map((task) => found[task] ?? told[missing.indexOf(task)] ?? new Error(`nothing was read of ${task}`));
  }

  const atOnce = batchCalls({ askAll: read, most: mostTasks });
  const untilDeadline = batchCalls({ askAll: read, most: mostTasks, wait: longestWait });
  return (task, mayWait = false) => (mayWait ? untilDeadline : atOnce)(task);
}

/** A manager that lists no tasks to us may still tell of each: that is then asked. */
function unlessRefused(error: unknown): Readonly<Record<string, TaskInfo>> {
  if (error instanceof DriverError && error.kind === "permanent" && error.inWork !== "AWAY") return {};
  throw error;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
