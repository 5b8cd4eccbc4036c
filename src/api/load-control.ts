import * as E from "fp-ts/Either";
import type { TaskEither } from "fp-ts/TaskEither";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { Timers } from "../upgrades/ports";

/**
 * The kinds of load. Each has permits of its own, so that much of one kind takes nothing from another
 * (docs/decisions/0023-load-shedding.md).
 *
 * - `START`: new upgrades.
 * - `COMMAND`: what operators do to upgrades that exist, from a commit to a cancellation.
 * - `READ`: one Task, Upgrade or bundle, and the opening of an event stream.
 * - `LIST`: lists of upgrades and tasks.
 * - `INVENTORY`: clusters and previews, which wait for component managers.
 * - `SIGN_IN`: passwords and tokens.
 */
export const loads = ["START", "COMMAND", "READ", "LIST", "INVENTORY", "SIGN_IN"] as const;
export type Load = (typeof loads)[number];

/** What a route loads; `NONE` is always served: health, metrics and files. */
export type RouteLoad = Load | "NONE";

/** Why a request was shed: the queue was full, no permit came free in time, or its caller has sent too many. */
export const shedReasons = ["full", "waited", "rate"] as const;
export type ShedReason = (typeof shedReasons)[number];

/** The refusal of a request for which nothing has been done yet. */
export type Shed =
  | { readonly _tag: "Overloaded"; readonly load: Load; readonly retryAfterSeconds: number }
  | {
      readonly _tag: "RateLimited";
      readonly load: Load;
      readonly perMinute: number;
      readonly retryAfterSeconds: number;
    };

/** How much the API of one process takes on; the variables LOAD_* and RATE_LIMIT_* (docs/configuration.md). */
export interface LoadLimits {
  /** Permits for new upgrades. */
  readonly starts: number;
  /** Permits for operators' commands. */
  readonly commands: number;
  readonly reads: number;
  /** Permits for lists; as many again for what waits for component managers. */
  readonly lists: number;
  /** How long a request may wait for a permit, in milliseconds. */
  readonly waitMilliseconds: number;
  /** How many starts, commands and logins each, and how many reads, a caller may send in a minute; 0 is any number. */
  readonly changesPerMinute: number;
  readonly readsPerMinute: number;
}

/** Requests of one kind now, and how many may run at a time. `inside` are all: receiving a body, waiting or running. */
export interface LoadCounts {
  readonly inside: number;
  readonly waiting: number;
  readonly working: number;
  readonly permits: number;
}

export interface LoadControlOptions {
  readonly limits: LoadLimits;
  readonly timers: Timers;
  /** Called for every request that is shed. */
  readonly onShed?: (load: Load, reason: ShedReason) => void;
}

/** A request as far as load control looks at it. */
export interface Arrival {
  readonly load: RouteLoad;
  /** A name or an address: whose rate it counts for. */
  readonly caller: string;
  /** Whether the client has hung up. */
  isGone(): boolean;
}

/** Runs work as soon as there is a permit for it, or sheds it. */
export type WithPermit = <F, A>(work: TaskEither<F, A>) => TaskEither<F | Shed, A>;

/** So many requests per permit may be inside beyond those that run: their bodies arrive, or they wait for a permit. */
const queuePerPermit = 3;
/** Logins at a time: each keeps one of four threads busy for part of a second. */
const signInPermits = 16;
/** `Retry-After` goes round from 1 to this, in seconds, so that shed clients do not come back together. */
const longestRetryAfter = 5;

/** Decides for one API process which requests are served, which wait, and which are shed. */
export class LoadControl {
  private readonly bulkheads: Readonly<Record<Load, Bulkhead>>;
  /** Undefined where a caller may send any number. */
  private readonly rates: Readonly<Record<Load, RateLimiterMemory | undefined>>;
  private shedSoFar = 0;

  constructor(private readonly options: LoadControlOptions) {
    const { limits, timers } = options;
    const bulkhead = (permits: number) => new Bulkhead(permits, limits.waitMilliseconds, timers);
    this.bulkheads = {
      START: bulkhead(limits.starts),
      COMMAND: bulkhead(limits.commands),
      READ: bulkhead(limits.reads),
      LIST: bulkhead(limits.lists),
      INVENTORY: bulkhead(limits.lists),
      SIGN_IN: bulkhead(signInPermits),
    };
    const rate = (points: number) => (points > 0 ? new RateLimiterMemory({ points, duration: 60 }) : undefined);
    const reads = rate(limits.readsPerMinute);
    this.rates = {
      // A budget each: whoever has used up their starts can still cancel them.
      START: rate(limits.changesPerMinute),
      COMMAND: rate(limits.changesPerMinute),
      SIGN_IN: rate(limits.changesPerMinute),
      READ: reads,
      LIST: reads,
      INVENTORY: reads,
    };
  }

  /**
   * Serves a request, or says why it is shed. To be called before its body is read; `serve` has the use case run with a
   * permit once the body is there, so that a slow client holds none.
   */
  async admit(
    { load, caller, isGone }: Arrival,
    serve: (withPermit: WithPermit) => Promise<void>,
  ): Promise<Shed | undefined> {
    if (load === "NONE") {
      await serve((work) => work);
      return undefined;
    }
    const bulkhead = this.bulkheads[load];
    if (bulkhead.isFull) return this.overloaded(load, "full");
    bulkhead.enter();
    try {
      const throttled = await this.throttle(load, caller);
      if (throttled) return throttled;
      await serve((work) => async () => {
        if (!(await bulkhead.acquire())) return E.left(this.overloaded(load, "waited"));
        try {
          // Nothing is begun for a client that gave up while it waited.
          return isGone() ? E.left(this.overloaded(load, "waited")) : await work();
        } finally {
          bulkhead.release();
        }
      });
      return undefined;
    } finally {
      bulkhead.leave();
    }
  }

  /** How many requests of each kind there are now. */
  counts(): readonly (readonly [Load, LoadCounts])[] {
    return loads.map((load) => [load, this.bulkheads[load].counts]);
  }

  private async throttle(load: Load, caller: string): Promise<Shed | undefined> {
    const rate = this.rates[load];
    try {
      await rate?.consume(caller);
      return undefined;
    } catch (refusal) {
      if (!rate || !(refusal instanceof RateLimiterRes)) throw refusal;
      this.options.onShed?.(load, "rate");
      const retryAfterSeconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
      return { _tag: "RateLimited", load, perMinute: rate.points, retryAfterSeconds };
    }
  }

  private overloaded(load: Load, reason: ShedReason): Shed {
    this.options.onShed?.(load, reason);
    this.shedSoFar += 1;
    return { _tag: "Overloaded", load, retryAfterSeconds: 1 + (this.shedSoFar % longestRetryAfter) };
  }
}

/**
 * A bounded number of permits and a bounded queue in front of them, first come, first served, each for a bounded time.
 * Our own, because of cockatiel's bulkhead and async-mutex's semaphore one bounds the length of the queue and the other
 * the wait in it, and none does both.
 */
class Bulkhead {
  private inside = 0;
  private running = 0;
  /** Those that wait, in the order in which they came. */
  private readonly queue = new Set<(isGranted: boolean) => void>();

  constructor(
    private readonly permits: number,
    private readonly waitMilliseconds: number,
    private readonly timers: Timers,
  ) {}

  get counts(): LoadCounts {
    return { inside: this.inside, waiting: this.queue.size, working: this.running, permits: this.permits };
  }

  get isFull(): boolean {
    return this.inside >= this.permits * (1 + queuePerPermit);
  }

  enter(): void {
    this.inside += 1;
  }

  leave(): void {
    this.inside -= 1;
  }

  /** Resolves to whether a permit came free in time; it is to be released then. */
  acquire(): Promise<boolean> {
    if (this.running < this.permits) {
      this.running += 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const settle = (isGranted: boolean) => {
        stopTimer();
        this.queue.delete(settle);
        resolve(isGranted);
      };
      const stopTimer = this.timers.after(this.waitMilliseconds, () => settle(false));
      this.queue.add(settle);
    });
  }

  /** Hands the permit to whoever has waited longest. */
  release(): void {
    const [next] = this.queue;
    if (next) next(true);
    else this.running -= 1;
  }
}
