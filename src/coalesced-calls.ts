interface Turn<T> {
  readonly outcome: Promise<T>;
  /** What begins when it has ended, for all who asked meanwhile. */
  next?: Promise<T>;
}

/**
 * Work that is done once at a time for each thing it is about. Whoever asks while it is being done shares what begins when
 * that has ended: no outcome is from before it was asked for, and of two the later one is never of an earlier state. A
 * failure is one for those who wait, too: it came after they asked. No library does this: those who wait for a mutex work
 * one after another, and a memoised function hands out what began before they asked.
 */
export class CoalescedCalls<T> {
  private readonly running = new Map<string, Turn<T>>();

  share(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.running.get(key);
    if (!running) return this.begin(key, work);
    running.next ??= running.outcome.then(() => this.begin(key, work));
    return running.next;
  }

  private begin(key: string, work: () => Promise<T>): Promise<T> {
    const turn: Turn<T> = { outcome: work() };
    this.running.set(key, turn);
    turn.outcome.then(
      () => {
        if (!turn.next) this.running.delete(key);
      },
      () => this.running.delete(key),
    );
    return turn.outcome;
  }
}
