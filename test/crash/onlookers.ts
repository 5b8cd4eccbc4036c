import type { Task } from "../../src/domain/task";
import { pause } from "../system/deployment";
import { hostsOf } from "../system/service-under-test";

const final = new Set(["Successful", "Cancelled", "COMPLETED_WITH_WARNING"]);

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
      const task = await read(url);
      if (last && task) {
        const [before, now] = [done(last), done(task)];
        // A retry reads the hosts of a cluster anew, and lists none until it has.
        if (now < before && hostsOf(task).length >= hostsOf(last).length)
          this.seen.push(`${url} told ${before} hosts done, then ${now}`);
        if (final.has(last.status) && task.status !== last.status)
          this.seen.push(`${url} told ${last.status}, then ${task.status}`);
      }
      last = task;
      await pause();
    }
  }
}

const done = (task: Task) => hostsOf(task).filter(({ status }) => status === "SUCCESSFUL").length;

async function read(url: string): Promise<Task | undefined> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    return answer.ok ? ((await answer.json()) as Task) : undefined;
  } catch {
    return undefined;
  }
}
