import type { Clock } from "../src/clock";
import { intervalAfter } from "../src/domain/retry-intervals";
import type { ActivityLimits } from "./activity-limits";
import { DriverError, fieldsOf, isBusy } from "./drivers/driver-error";
import type { WorkStage } from "./work-stage";

/** What retrying is bounded by, in milliseconds: an outage, another operation, and how often to look. */
export type RetryBounds = Pick<ActivityLimits, "outage" | "operationBusy" | "poll" | "clock">;

export interface RetryHooks {
  readonly stage: WorkStage;
  /** The error to throw where the wait is over because the Activity is to stop; undefined where it may go on. */
  interruption(): Error | undefined;
  /** Called with every error that is waited out, so that the operator can be told what is waited for. */
  onTrouble?(error: DriverError): void;
  /** Aborted as soon as `interruption` may have something to say; absent where only every poll asks. */
  readonly signal?: AbortSignal;
}

/** Retries what fails for reasons that pass by themselves, within bounds, and can be interrupted. */
export interface RetryPolicy {
  readonly stage: WorkStage;
  readonly bounds: RetryBounds;
  /** By which it measures, and whoever measures with it: a step of the time of day ends no wait. */
  readonly clock: Clock;
  /**
   * Repeats a request that may safely be repeated, until it is answered. Throws permanent errors at once, a
   * {@link GiveUpError} when the bound of a transient one is over, and the interruption as soon as there is one, without
   * waiting for the answer.
   */
  retry<A>(request: () => Promise<A>): Promise<A>;
  /**
   * Makes a request once, for who looks before it is repeated: no interruption while it is on its way. What it throws is judged by
   * the stage: a transient error leaves open whether it was done, a permanent one says that it was not. Refused credentials are
   * thrown when they may be tried again.
   */
  once<A>(request: () => Promise<A>): Promise<A>;
  /**
   * Waits; the `round`th wait in a row is longer than the one before, up to `poll.max`. Round 0 waits for `poll.min`, those
   * before for less. Throws the interruption.
   */
  pause(round: number): Promise<void>;
}

export function createRetryPolicy(bounds: RetryBounds, hooks: RetryHooks): RetryPolicy {
  const { clock } = bounds;
  const { stage } = hooks;
  const stopIfInterrupted = () => {
    const interruption = hooks.interruption();
    if (interruption) throw interruption;
  };

  async function interruptibly<A>(work: Promise<A>): Promise<A> {
    const { signal } = hooks;
    if (!signal || signal.aborted) return work;
    let stop: () => void = () => undefined;
    const stopped = new Promise<"stopped">((resolve) => {
      stop = () => resolve("stopped");
      signal.addEventListener("abort", stop);
    });
    try {
      const winner = await Promise.race([work, stopped]);
      if (winner !== "stopped") return winner;
      // Nobody waits for it any more; where it is a change, the Activity does (docs/decisions/0037).
      work.catch(() => undefined);
      stopIfInterrupted();
      return await work;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async function pause(round: number): Promise<void> {
    stopIfInterrupted();
    const { min, max } = bounds.poll;
    const intervals = { initialInterval: min, backoffCoefficient: 1.5, maximumInterval: max };
    const milliseconds = intervalAfter(round + 1, intervals);
    const interrupted = new AbortController();
    // Nobody waits for it any more where it is aborted.
    const over = clock.sleep(milliseconds, interrupted.signal).catch(() => undefined);
    try {
      await interruptibly(over);
    } finally {
      interrupted.abort();
    }
    stopIfInterrupted();
  }

  /** Waits until the turn of this caller among all who use the credentials that were refused. */
  async function untilMyTurn({ tries }: DriverError, isOver: () => boolean): Promise<void> {
    if (!tries) return;
    tries.refused(clock.now(), bounds.poll.max);
    for (let round = 0; !isOver() && !tries.take(clock.now(), bounds.poll.max); round++) await pause(round);
  }

  async function retry<A>(request: () => Promise<A>): Promise<A> {
    let since: { readonly at: number; readonly busy: boolean } | undefined;
    for (let round = 0; ; round++) {
      stopIfInterrupted();
      try {
        return await interruptibly(request());
      } catch (thrown) {
        const error = takenAt(stage, thrown);
        if (!(error instanceof DriverError) || error.kind !== "transient") throw error;
        const busy = isBusy(error);
        if (since?.busy !== busy) since = { at: clock.now(), busy };
        const bound = busy ? bounds.operationBusy : bounds.outage;
        const { at } = since;
        const isOver = () => clock.now() - at >= bound;
        if (isOver()) throw new GiveUpError(error, bound);
        hooks.onTrouble?.(error);
        await untilMyTurn(error, isOver);
        if (error.tries && isOver()) throw new GiveUpError(error, bound);
      }
      await pause(round);
    }
  }

  return {
    stage,
    bounds,
    clock,
    retry,
    once: async (request) => {
      try {
        return await request();
      } catch (thrown) {
        const error = takenAt(stage, thrown);
        if (error instanceof DriverError && error.kind === "transient") await untilMyTurn(error, () => false);
        throw error;
      }
    },
    pause,
  };
}

/** The one place where it is decided what an error means at a stage of the work. */
function takenAt(stage: WorkStage, error: unknown): unknown {
  const mayPass = stage === "IN_WORK" && error instanceof DriverError && error.inWork !== undefined;
  return mayPass ? error.with({ kind: "transient" }) : error;
}

/** The end of retrying: the last error, and for how long it was waited out. Transient: another try later may succeed. */
export class GiveUpError extends DriverError {
  constructor(error: DriverError, after: number) {
    super({ ...fieldsOf(error), kind: "transient", message: `${error.message} Waited for ${duration(after)}.` });
  }
}

/** Milliseconds in words. */
export function duration(milliseconds: number): string {
  return milliseconds < 90_000
    ? `${Math.round(milliseconds / 1000)} s`
    : `${Math.round(milliseconds / 60_000)} minutes`;
}
