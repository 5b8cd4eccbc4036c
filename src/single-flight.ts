import type { Timers } from "./upgrades/ports";

/**
 * Work that is being done, by what it is about: whoever asks for the same meanwhile shares its outcome. p-memoize does the
 * same, but no longer on Node 20.
 */
export class SingleFlight<T> {
  private readonly running = new Map<string, Promise<T>>();

  /** `kept`: for how long who asks after it gets the same outcome, unless it is a failure; by default not at all. */
  constructor(private readonly kept?: { readonly milliseconds: number; readonly timers: Timers }) {}

  share(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.running.get(key);
    if (running) return running;
    const outcome = work();
    const end = () => this.running.delete(key);
    this.running.set(key, outcome);
    const { kept } = this;
    outcome.then(kept ? () => void kept.timers.after(kept.milliseconds, end) : end, end);
    return outcome;
  }
}
