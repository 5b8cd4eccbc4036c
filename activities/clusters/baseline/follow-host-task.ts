import { DriverError, isNotFound } from "../../drivers/driver-error";
import type { Vim25Client } from "../../drivers/vim25/vim25-client";
import { hasEnded, type TaskInfo } from "../../drivers/vim25/vim25-models";
import type { RetryPolicy } from "../../retry-policy";
import { StallTimer } from "../../stall-timer";

/** How following a task ended. FORGOTTEN: the component manager does not know it any more. */
type FollowedHostTask = { readonly end: "ENDED" | "STALLED"; readonly task: TaskInfo } | { readonly end: "FORGOTTEN" };

interface FollowHostTaskOptions {
  readonly client: Vim25Client;
  readonly retryPolicy: RetryPolicy;
  readonly task: string;
  /** Milliseconds without any change after which the task counts as stalled. */
  readonly stall: number;
  /** Asked at every look: what else changes while the task gets on. */
  signsOfLife?(): Promise<unknown>;
  /** Called after every look at the task, with its progress in percent where it tells one. */
  onProgress?(percent: number | undefined): void;
}

/** Watches a task to its end. Time in which the component manager does not answer is no time without change. */
export async function followHostTask(options: FollowHostTaskOptions): Promise<FollowedHostTask> {
  const { client, retryPolicy, stall, signsOfLife, onProgress } = options;
  const timer = new StallTimer(retryPolicy.clock);
  for (let round = 0; ; round++) {
    const read = await timer.uncounted(readUnlessForgotten);
    if (!read) return { end: "FORGOTTEN" };
    const { task, life } = read;
    if (hasEnded(task)) return { end: "ENDED", task };
    if (timer.look([task.state, task.progress, life])) round = 0;
    onProgress?.(task.progress);
    if (timer.stalledFor >= stall) return { end: "STALLED", task };
    await retryPolicy.pause(round);
  }

  async function readUnlessForgotten(): Promise<{ readonly task: TaskInfo; readonly life: unknown } | undefined> {
    try {
      const task = await retryPolicy.retry(() => client.readTask(options.task));
      return { task, life: hasEnded(task) ? undefined : await signsOfLife?.() };
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

/** Asks for the end of a task; whether it was cancelled, had ended or cannot be cancelled is seen at the next look. */
export async function requestCancel(
  { client, retryPolicy }: Pick<FollowHostTaskOptions, "client" | "retryPolicy">,
  task: string,
): Promise<void> {
  try {
    await retryPolicy.retry(() => client.cancelTask(task));
  } catch (error) {
    if (!(error instanceof DriverError)) throw error;
  }
}
