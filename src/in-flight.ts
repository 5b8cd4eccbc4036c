import type { Timers } from "./upgrades/ports";

interface Work<T> {
  readonly outcome: Promise<T>;
  /** Whether something has changed since it began, so that nobody shares it any more. */
  isStale: boolean;
}

/** Work that is being done, by what it is about: whoever asks for the same meanwhile shares its outcome. */
export class InFlight<T> {
  private readonly running = new Map<string, Work<T>>();
  /** That waits for the end of what is stale. */
  private readonly waiting = new Map<string, Promise<T>>();

  /** `kept`: for how long who asks after it gets the same outcome, unless it is a failure; by default not at all. */
  constructor(private readonly kept?: { readonly milliseconds: number; readonly timers: Timers }) {}

  share(key: string, work: () => Promise<T>): Promise<T> {
    const next = this.waiting.get(key);
    if (next) return next;
    const running = this.running.get(key);
    if (!running) return this.begin(key, work);
    return running.isStale ? this.after(key, running, work) : running.outcome;
  }

  /**
   * Something has changed: whoever asks from now on does not share what is being done already. They share what begins when
   * that has ended, so that of two outcomes the later one is never of an earlier state.
   */
  renew(key: string): void {
    const running = this.running.get(key);
    if (running) running.isStale = true;
  }

  private begin(key: string, work: () => Promise<T>): Promise<T> {
    const started: Work<T> = { outcome: work(), isStale: false };
    const end = () => {
      if (this.running.get(key) === started) this.running.delete(key);
    };
    this.running.set(key, started);
    const { kept } = this;
    started.outcome.then(kept ? () => void kept.timers.after(kept.milliseconds, end) : end, end);
    return started.outcome;
  }

  private after(key: string, stale: Work<T>, work: () => Promise<T>): Promise<T> {
    const begin = () => {
      this.waiting.delete(key);
      return this.begin(key, work);
    };
    const next = stale.outcome.then(begin, begin);
    this.waiting.set(key, next);
    return next;
  }
}
