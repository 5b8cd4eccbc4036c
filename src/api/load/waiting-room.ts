import type { Timers } from "../../upgrades/ports";

/** Time as it passes; `now` in milliseconds on a clock that only goes forward. */
export interface GateClock {
  readonly timers: Timers;
  readonly now: () => number;
}

/**
 * Where somebody is refused again and again for so many milliseconds, with no pause as long as that, there is a flood: a
 * queue would stay full, and all would be served as late as they may. Then one waits for this part of the usual time.
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
  /** The first and the last refusal of those between which there was no pause. */
  private refusals = { first: -Infinity, last: -Infinity };
  /** Whether those who wait have the time of a flood. */
  private isShort = false;

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
    this.isShort = this.isFlooded;
    this.limit(one);
    return () => this.end(one, false);
  }

  /** Gives a place to whoever came first. */
  callFirst(): void {
    const [first] = this.waiting;
    if (first) this.end(first, true);
  }

  /** Takes note that a request was refused, because it found no room or its time was over. */
  refused(): void {
    const last = this.clock.now();
    const isAfterPause = last - this.refusals.last >= flood.afterMilliseconds;
    this.refusals = { first: isAfterPause ? last : this.refusals.first, last };
    if (this.isShort || !this.isFlooded) return;
    this.isShort = true;
    for (const one of this.waiting) this.limit(one);
  }

  private get isFlooded(): boolean {
    const { first, last } = this.refusals;
    return last - first >= flood.afterMilliseconds && this.clock.now() - last < flood.afterMilliseconds;
  }

  private limit(one: Waiting): void {
    one.stopTimer();
    const patience = this.isShort ? this.longest * flood.patience : this.longest;
    const left = patience - (this.clock.now() - one.since);
    one.stopTimer = this.clock.timers.after(Math.max(0, left), () => {
      this.end(one, false);
      this.refused();
    });
  }

  private end(one: Waiting, hasPlace: boolean): void {
    if (!this.waiting.delete(one)) return;
    one.stopTimer();
    one.tell(hasPlace);
  }
}
