import type { Timers } from "../../upgrades/ports";

/** Time as it passes; `now` in milliseconds on a clock that only goes forward. */
export interface GateClock {
  readonly timers: Timers;
  readonly now: () => number;
}

/**
 * A room in which somebody waits, and which was too small for others for so many milliseconds, is flooded: those who
 * wait would be served as late as they may, all of them. Then they wait for no more than this part of the usual time.
 */
const flood = { afterMilliseconds: 1000, patience: 0.1 };

interface Waiting {
  readonly since: number;
  readonly tell: (hasPlace: boolean) => void;
  stopTimer: () => void;
}

/** Requests that wait for a place, first come, first served, each for a bounded time. */
export class WaitingRoom {
  /** In the order in which they came. */
  private readonly waiting = new Set<Waiting>();
  /** When somebody first found no room since nobody waited. */
  private crowdedSince: number | undefined;
  private isFlooded = false;

  constructor(
    /** How long one waits at most where there is no flood, in milliseconds. */
    private readonly longest: number,
    private readonly clock: GateClock,
  ) {}

  /** How many wait. */
  get size(): number {
    return this.waiting.size;
  }

  /** Tells whether a place came free in time; gives the function that ends the wait. */
  enter(tell: (hasPlace: boolean) => void): () => void {
    const one: Waiting = { since: this.clock.now(), tell, stopTimer: () => undefined };
    this.waiting.add(one);
    this.limit(one);
    return () => this.end(one, false);
  }

  /** Gives a place to whoever came first. */
  callFirst(): void {
    const [first] = this.waiting;
    if (first) this.end(first, true);
  }

  /** Takes note that a request found no room. */
  turnAway(): void {
    if (this.waiting.size === 0) return;
    const now = this.clock.now();
    this.crowdedSince ??= now;
    if (this.isFlooded || now - this.crowdedSince < flood.afterMilliseconds) return;
    this.isFlooded = true;
    for (const one of this.waiting) this.limit(one);
  }

  private limit(one: Waiting): void {
    one.stopTimer();
    const patience = this.isFlooded ? this.longest * flood.patience : this.longest;
    const left = patience - (this.clock.now() - one.since);
    one.stopTimer = this.clock.timers.after(Math.max(0, left), () => this.end(one, false));
  }

  private end(one: Waiting, hasPlace: boolean): void {
    if (!this.waiting.delete(one)) return;
    one.stopTimer();
    if (this.waiting.size === 0) {
      this.crowdedSince = undefined;
      this.isFlooded = false;
    }
    one.tell(hasPlace);
  }
}
