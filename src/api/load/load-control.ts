import * as E from "fp-ts/Either";
import type { Timers } from "../../upgrades/ports";
import type { ApiError } from "../api-error";
import { Gate, type GateCounts, type Pass } from "./gate";
import type { LoadLimits } from "./load-limits";
import { limitedLoads, type LimitedLoad, type ShedReason } from "./request-load";
import { TakeUpBacklog, type TakenUp } from "./take-up-backlog";
import { TokenBuckets } from "./token-buckets";

/** Callers of one kind that are remembered; about 200 bytes each. */
const rememberedCallers = 10_000;
/** Refused clients are told to come back at different times, up to so many seconds later. */
const longestRetry = 5;
/** A start that takes longer, until a worker has come to it, says that Temporal or the workers have enough to do. */
const quickMilliseconds = 1000;
/** Logins at a time: each keeps a thread busy for a part of a second, and there are four. */
const signInPlaces = 16;

export interface LoadControlOptions {
  readonly limits: LoadLimits;
  readonly timers: Timers;
  /** Milliseconds on a clock that only goes forward. */
  readonly now: () => number;
  readonly takenUp?: TakenUp;
  /** Is told of every request that is refused. */
  readonly onShed?: (load: LimitedLoad, reason: ShedReason) => void;
}

interface Budget {
  readonly perMinute: number;
  readonly buckets: TokenBuckets;
}

/** Decides for one process which requests are let in, and when they are worked on. */
export class LoadControl {
  private readonly gates: Readonly<Record<LimitedLoad, Gate>>;
  /** Undefined where a caller may send any number. */
  private readonly budgets: Readonly<Record<LimitedLoad, Budget | undefined>>;
  private readonly backlog: TakeUpBacklog | undefined;
  private refusals = 0;

  constructor(private readonly options: LoadControlOptions) {
    const { limits, timers, now, takenUp } = options;
    const { starts, steering, reads, lists, waitMilliseconds, changesPerMinute, readsPerMinute } = limits;
    const gate = (places: number) => new Gate({ places, waitMilliseconds }, { timers, now });
    this.gates = {
      START: new Gate({ places: starts, waitMilliseconds, quickMilliseconds }, { timers, now }),
      STEER: gate(steering),
      READ: gate(reads),
      EVENTS: gate(reads),
      LIST: gate(lists),
      INVENTORY: gate(lists),
      SIGN_IN: gate(signInPlaces),
    };
    this.backlog = takenUp && new TakeUpBacklog({ burst: starts, takenUp });
    const budget = (perMinute: number): Budget | undefined =>
      perMinute > 0 ? { perMinute, buckets: new TokenBuckets({ perMinute, keys: rememberedCallers, now }) } : undefined;
    // Whoever has started as much as they may can still cancel it.
    const [forStarts, forSteering, forSignIn] = [1, 2, 3].map(() => budget(changesPerMinute));
    const forReads = budget(readsPerMinute);
    this.budgets = {
      START: forStarts,
      STEER: forSteering,
      SIGN_IN: forSignIn,
      READ: forReads,
      EVENTS: forReads,
      LIST: forReads,
      INVENTORY: forReads,
    };
  }

  /** How many requests of each kind there are now. */
  counts(): readonly (readonly [LimitedLoad, GateCounts])[] {
    return limitedLoads.map((load) => [load, this.gates[load].counts]);
  }

  /** Lets a request of a caller in, or says why not. `caller` is a name or an address. */
  enter(load: LimitedLoad, caller: string): E.Either<ApiError, Pass> {
    const budget = this.budgets[load];
    const retryAfterSeconds = budget?.buckets.take(caller) ?? 0;
    if (budget && retryAfterSeconds > 0) {
      this.options.onShed?.(load, "rate");
      return E.left({ _tag: "RateLimited", load, perMinute: budget.perMinute, retryAfterSeconds });
    }
    const pass = this.gates[load].enter();
    return pass ? E.right(pass) : E.left(this.overloaded(load, "full"));
  }

  /** What goes on of a request of this kind after its answer, and keeps its place; undefined where nothing does. */
  afterwards(load: LimitedLoad): ((taskId: string) => Promise<void> | undefined) | undefined {
    return load === "START" ? this.backlog?.after : undefined;
  }

  /** The refusal of a request that has waited for too long. */
  waited(load: LimitedLoad): ApiError {
    return this.overloaded(load, "waited");
  }

  private overloaded(load: LimitedLoad, reason: ShedReason): ApiError {
    this.options.onShed?.(load, reason);
    this.refusals += 1;
    return { _tag: "Overloaded", load, retryAfterSeconds: 1 + (this.refusals % longestRetry) };
  }
}
