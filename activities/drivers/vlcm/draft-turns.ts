/** How long somebody's turn holds up the next, in milliseconds: it may be waiting for a component manager that hangs. */
const longestTurn = 60_000;

/** A turn on the draft of a cluster. */
interface DraftTurn {
  /** Resolves when those before have ended theirs, or that takes too long; never rejects. */
  readonly hasCome: Promise<void>;
  /** Lets the next one go on. Must be called, also by whoever does not wait for the turn any longer. */
  end(): void;
}

/**
 * A user has one draft of a cluster at most, and whoever makes a new one deletes the one before. So those that share a
 * client, and with it the user, take turns, first come, first served. A mutex of async-mutex fails whoever waits for too
 * long; here they go ahead.
 */
export class DraftTurns {
  readonly #last = new Map<string, Promise<void>>();

  constructor(private readonly longest = longestTurn) {}

  take(cluster: string): DraftTurn {
    const hasCome = this.#atMost(this.#last.get(cluster));
    let end: () => void = () => undefined;
    const own = new Promise<void>((resolve) => (end = resolve));
    const last = hasCome.then(() => own);
    this.#last.set(cluster, last);
    void last.then(() => {
      if (this.#last.get(cluster) === last) this.#last.delete(cluster);
    });
    return { hasCome, end };
  }

  async #atMost(before: Promise<void> | undefined): Promise<void> {
    if (!before) return;
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.longest)));
    await Promise.race([before, tooLong]);
    clearTimeout(timer);
  }
}
