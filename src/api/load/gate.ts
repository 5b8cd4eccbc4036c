import { WaitingRoom, type GateClock } from "./waiting-room";

/** How much of one kind of load is let in. */
export interface GateLimits {
  /** How many requests are worked on at a time. */
  readonly places: number;
  /** How long one may wait for a place, in milliseconds; a tenth of it in a flood. */
  readonly waitMilliseconds: number;
  /** Where it is given, fewer are worked on at a time while their work takes longer than this, in milliseconds. */
  readonly quickMilliseconds?: number;
}

/** What an adapting gate begins with, and the fewest that it works on at a time. */
const adapting = { first: 32, fewest: 2, decrease: 0.5 };
/** An adapting gate that has been empty begins anew so long after it has last had fewer, in milliseconds. */
const forgotten = 10_000;

/** As many requests as may be worked on now may wait, times this; a gate with few of its places lets as many wait as it has places. */
const waitingPerPlace = 4;
/** As many requests as places may be inside at all: their bodies arrive, they wait, or their answers are being sent. */
const insidePerPlace = 16;

/** A request that was let in. */
export interface Pass {
  /** Waits for a place, first come, first served. False where none came free in time, or the request has left. */
  begin(): Promise<boolean>;
  /** Gives the place to the next, when the work has ended; the request is still inside until it leaves. */
  end(): void;
  /** To be called when the answer is sent, or nobody waits for it: work that goes on keeps its place. Further calls do nothing. */
  leave(): void;
}

/** When work began, and how many were worked on then, with itself. */
interface Work {
  readonly began: number;
  readonly beside: number;
}

/** How many requests are inside, and of those how many wait and how many are worked on; how many of these may be. */
export interface GateCounts {
  readonly inside: number;
  readonly waiting: number;
  readonly working: number;
  readonly allowed: number;
}

/**
 * Lets a bounded number of requests in. A body may arrive before there is a place to work on it, so that slow clients
 * hold up nobody; what is inside bounds the memory.
 */
export class Gate {
  private inside = 0;
  private working = 0;
  private readonly waiting: WaitingRoom;
  /** How many may be worked on now; its whole part counts. */
  private allowed: number;
  private reducedAt = -Infinity;
  /** When each of those that are worked on began, the oldest first. */
  private readonly inWork = new Set<Work>();

  constructor(
    private readonly limits: GateLimits,
    private readonly clock: GateClock,
  ) {
    const { places, waitMilliseconds, quickMilliseconds } = limits;
    this.waiting = new WaitingRoom(waitMilliseconds, clock);
    this.allowed = quickMilliseconds === undefined ? places : Math.min(places, adapting.first);
  }

  get counts(): GateCounts {
    return {
      inside: this.inside,
      waiting: this.waiting.size,
      working: this.working,
      allowed: this.open,
    };
  }

  /** Undefined where there is no room, which is known before a body is read. */
  enter(): Pass | undefined {
    if (this.isQueueFull() || this.inside >= this.limits.places * insidePerPlace) {
      this.waiting.refused();
      return undefined;
    }
    this.inside += 1;
    let isInside = true;
    let hasBegun = false;
    let stopWaiting: (() => void) | undefined;
    let work: Work | undefined;
    const end = () => {
      if (!work) return;
      this.adapt(work);
      this.inWork.delete(work);
      work = undefined;
      this.working -= 1;
      this.callNext();
    };
    return {
      begin: () =>
        new Promise((resolve) => {
          if (hasBegun || !isInside) return resolve(false);
          hasBegun = true;
          stopWaiting = this.awaitPlace((hasPlace) => {
            if (hasPlace) this.inWork.add((work = { began: this.clock.now(), beside: this.working }));
            resolve(hasPlace);
          });
        }),
      end,
      leave: () => {
        if (!isInside) return;
        stopWaiting?.();
        isInside = false;
        this.inside -= 1;
      },
    };
  }

  private get fewer(): number {
    return Math.min(this.allowed, Math.max(adapting.fewest, this.allowed * adapting.decrease));
  }

  private isQueueFull(): boolean {
    return this.waiting.size >= Math.max(this.limits.places, this.open * waitingPerPlace);
  }

  /** How many may be worked on now: half as many while the oldest of them is late, because the rest will be too. */
  private get open(): number {
    const { quickMilliseconds } = this.limits;
    const [oldest] = this.inWork;
    const isLate = oldest && quickMilliseconds !== undefined && this.clock.now() - oldest.began > quickMilliseconds;
    return Math.floor(isLate ? this.fewer : this.allowed);
  }

  /** Tells whether there is a place, at once or later; gives the function that ends the wait. */
  private awaitPlace(tell: (hasPlace: boolean) => void): () => void {
    this.beginAnew();
    const isFree = this.working < this.open;
    // Many bodies can have been on their way when there was room to wait.
    if (isFree || this.isQueueFull()) {
      if (isFree) this.working += 1;
      else this.waiting.refused();
      tell(isFree);
      return () => undefined;
    }
    return this.waiting.enter(tell);
  }

  /**
   * Additive increase, multiplicative decrease, as TCP does: one more for as many as were worked on in time where all
   * places were taken, and half as many where one was late beside so many that
   * fewer would have helped, once for all that were under way then.
   */
  private adapt({ began, beside }: Work): void {
    const { places, quickMilliseconds } = this.limits;
    if (quickMilliseconds === undefined) return;
    const now = this.clock.now();
    if (now - began <= quickMilliseconds) {
      if (this.working >= Math.floor(this.allowed)) this.allowed = Math.min(places, this.allowed + 1 / this.allowed);
    } else if (began >= this.reducedAt && beside >= this.fewer) {
      this.allowed = this.fewer;
      this.reducedAt = now;
    }
  }

  private beginAnew(): void {
    const { places, quickMilliseconds } = this.limits;
    if (quickMilliseconds === undefined || this.working > 0 || this.clock.now() - this.reducedAt < forgotten) return;
    this.allowed = Math.max(this.allowed, Math.min(places, adapting.first));
  }

  private callNext(): void {
    while (this.working < this.open && this.waiting.size > 0) {
      this.working += 1;
      this.waiting.callFirst();
    }
  }
}
