import type { Timers } from "../../src/upgrades/ports";

/** Time that passes only when a test says so. */
export class ManualTimers implements Timers {
  private readonly pending = new Set<{ readonly at: number; readonly run: () => void }>();
  private now = 0;

  after(milliseconds: number, run: () => void): () => void {
    const timer = { at: this.now + milliseconds, run };
    this.pending.add(timer);
    return () => void this.pending.delete(timer);
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.pending.size;
  }

  /** Lets time pass; what is due runs in its order, each time followed by all that it sets off without waiting. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.now + milliseconds;
    for (;;) {
      await settled();
      const [next] = [...this.pending].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.pending.delete(next);
      this.now = next.at;
      next.run();
    }
    this.now = end;
  }
}

/** Resolves when all promises that can go on by themselves have done so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
