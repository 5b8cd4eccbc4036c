import type { Task } from "../../../src/domain/spec/task";
import { pause } from "../../support/service/deployment";
import { hostsOf } from "../../support/service/service-under-test";

const final = new Set(["Successful", "Cancelled", "COMPLETED_WITH_WARNING", "SKIPPED"]);

/**
 * Reads a Task at every API process again and again. What one process has told must not go back: hosts that were done
 * stay done, and an end stays an end. A process that does not answer was killed, and its successor begins anew.
 */
export class Onlookers {
  private readonly seen: string[] = [];
  private watching = true;
  private readonly ended: Promise<unknown>;

  constructor(apiUrls: readonly string[], id: string) {
    this.ended = Promise.all(apiUrls.map((url) => this.watch(`${url}/v1/tasks/${id}`)));
  }

  /** What went back, in words. */
  async end(): Promise<readonly string[]> {
    this.watching = false;
    await this.ended;
    return this.seen;
  }

  private async watch(url: string): Promise<void> {
    let last: Task | undefined;
    while (this.watching) {
      const task = await readTaskAt(url);
      if (last && task) this.seen.push(...wentBack(last, task).map((what) => `${url} told ${what}`));
      last = task;
      await pause();
    }
  }
}

/** What of a Task went back between two looks at it at the same place, in words. */
export function wentBack(last: Task, task: Task): string[] {
  const [before, now] = [done(last), done(task)];
  return [
    // A retry reads the hosts of a cluster anew, and lists none until it has.
    ...(now < before && hostsOf(task).length >= hostsOf(last).length ? [`${before} hosts done, then ${now}`] : []),
    ...(final.has(last.status) && task.status !== last.status ? [`${last.status}, then ${task.status}`] : []),
  ];
}

const done = (task: Task) => hostsOf(task).filter(({ status }) => status === "SUCCESSFUL").length;

/** A Task, or undefined where it cannot be read. */
export async function readTaskAt(url: string): Promise<Task | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return answer.ok ? ((await answer.json()) as Task) : undefined;
  } catch {
    return undefined;
  }
}
