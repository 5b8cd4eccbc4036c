import type { Task } from "../../../src/domain/spec/task";
import { readTaskAt, wentBack } from "../crash/onlookers";
import { pause } from "../../support/service/deployment";

/** Tasks that a reader reads in turn; the older ones have ended. */
const watched = 12;

/**
 * Two readers, each of whom reads the latest upgrades at every API process in turn. What one process has told of a Task
 * must not go back; one that does not answer was killed, and its successor begins anew.
 */
export class Readers {
  private readonly ids: string[] = [];
  private watching = true;
  private readonly reading: Promise<unknown>;
  private reads = 0;

  constructor(
    apiUrls: readonly string[],
    private readonly onWentBack: (what: string) => void,
  ) {
    this.reading = Promise.all([1, 2].flatMap(() => apiUrls.map((url) => this.read(url))));
  }

  follow(id: string): void {
    this.ids.push(id);
  }

  /** Ends them; gives how often they have read a Task. */
  async end(): Promise<number> {
    this.watching = false;
    await this.reading;
    return this.reads;
  }

  private async read(url: string): Promise<void> {
    const last = new Map<string, Task>();
    while (this.watching) {
      for (const id of this.ids.slice(-watched)) {
        const task = await readTaskAt(`${url}/v1/tasks/${id}`);
        const before = last.get(id);
        if (task) this.reads += 1;
        if (task && before)
          for (const what of wentBack(before, task)) this.onWentBack(`Task ${id}: ${url} told ${what}`);
        if (task) last.set(id, task);
        else last.clear();
      }
      await pause();
    }
  }
}
