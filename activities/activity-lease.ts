import { Context } from "@temporalio/activity";
import {
  ActivityCancelledError,
  ActivityCompletionError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
} from "@temporalio/client";
import { type Clock, monotonicClock, timeWithSuspension } from "../src/clock";
import { type Lease, LeaseEndedError } from "./drivers/lease";

/** What of the heartbeat timeout an answered heartbeat is good for: the rest is for what is on its way when it is over. */
const validFor = 0.8;

/** From this part of the heartbeat timeout on a change asks for another answered heartbeat first. */
const renewedAfter = 1 / 3;

/** Milliseconds that one heartbeat is waited for, and between two that were not answered. */
const answerTimeout = 5_000;
const pauseAfterSilence = 500;

/** `ours`: Temporal has recorded the heartbeat. `gone`: it has given the Activity up. `unknown`: it did not answer. */
export type HeartbeatAnswer = "ours" | "gone" | "unknown";

interface LeaseOptions {
  /** Milliseconds after which Temporal gives up an Activity without a heartbeat. */
  readonly heartbeatTimeout: number;
  /** Heartbeats, and waits for the answer. Other errors than a silent Temporal are thrown. */
  heartbeat(): Promise<HeartbeatAnswer>;
  /** The error to throw where the Activity is to end without any change more; undefined where it may go on. */
  interruption?(): Error | undefined;
  readonly clock?: Clock;
}

/**
 * The lease of a running Activity. Temporal gives an Activity to another worker at the earliest one heartbeat timeout after the
 * last heartbeat that it has recorded; when this worker sent that one is what the lease counts from.
 */
export class ActivityLease implements Lease {
  readonly #options: LeaseOptions;
  readonly #clock: Clock;
  #heartbeatAt = -Infinity;
  #ended: LeaseEndedError | undefined;
  /** Changes that have no answer yet. */
  readonly #underWay = new Set<Promise<unknown>>();
  /** Changes that got no answer, each with the time until which it may still arrive. */
  #lost: { readonly clock: Clock; readonly until: number }[] = [];
  #renewing: Promise<void> | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#clock = options.clock ?? leaseClock;
  }

  isValid(): boolean {
    return this.#ended === undefined && this.#age() < this.#options.heartbeatTimeout * validFor;
  }

  async renew(): Promise<void> {
    if (this.#ended === undefined && this.#age() < this.#options.heartbeatTimeout * renewedAfter) return;
    this.#renewing ??= this.#heartbeatUntilRecorded().finally(() => (this.#renewing = undefined));
    await this.#renewing;
  }

  follow(change: Promise<unknown>): void {
    this.#underWay.add(change);
    const forget = () => this.#underWay.delete(change);
    change.then(forget, forget);
  }

  lost(milliseconds: number, clock: Clock): void {
    this.#lost.push({ clock, until: clock.now() + milliseconds });
  }

  /** Whether a change is under way, or has got no answer and may still arrive. */
  get mayStillArrive(): boolean {
    return this.#underWay.size > 0 || this.#lost.some(({ clock, until }) => clock.now() < until);
  }

  /**
   * Until no change can arrive any more: only then can anybody find out how things were left. Ends early where the worker is
   * stopped.
   */
  async untilNothingArrives(): Promise<void> {
    const isStopped = () => this.#options.interruption?.() !== undefined;
    while (this.#underWay.size > 0 && !isStopped())
      await Promise.race([Promise.allSettled(this.#underWay), this.#clock.sleep(pauseAfterSilence)]);
    for (const { clock, until } of this.#lost)
      while (clock.now() < until && !isStopped()) await clock.sleep(Math.min(pauseAfterSilence, until - clock.now()));
  }

  /** The Activity has ended in this worker: what it has left behind changes nothing any more. */
  end(): void {
    this.#ended ??= new LeaseEndedError("The Activity has ended; it makes no further changes.");
  }

  #age(): number {
    return this.#clock.now() - this.#heartbeatAt;
  }

  async #heartbeatUntilRecorded(): Promise<void> {
    const { heartbeat, interruption } = this.#options;
    for (;;) {
      const stop = this.#ended ?? interruption?.();
      if (stop) throw stop;
      const sentAt = this.#clock.now();
      const answer = await heartbeat();
      if (answer === "gone") {
        this.#ended = new LeaseEndedError("Temporal ended this run of the Activity; another run continues.");
      } else if (answer === "ours") {
        this.#heartbeatAt = sentAt;
        // The answer may have come too late to be worth anything, after a freeze for example.
        if (this.isValid()) return;
      } else {
        await this.#clock.sleep(pauseAfterSilence);
      }
    }
  }
}

const leaseClock: Clock = { ...monotonicClock, now: timeWithSuspension };

/**
 * Heartbeats the current Activity by a call of its own, because those of the SDK are sent without telling whether they
 * were answered.
 */
export async function answeredHeartbeat(details: unknown): Promise<HeartbeatAnswer> {
  const { client, info } = Context.current();
  try {
    // The worker's client ends its calls with the Activity's cancellation, and a cancelled one has things to put back.
    await client.withAbortSignal(new AbortController().signal, () =>
      client.withDeadline(Date.now() + answerTimeout, () => client.activity.heartbeat(info.taskToken, details)),
    );
    return "ours";
  } catch (error) {
    if (error instanceof ActivityNotFoundError) return "gone";
    if (ours.some((type) => error instanceof type)) return "ours";
    if (error instanceof ActivityCompletionError) return "unknown";
    throw error;
  }
}

/** Answers that ask the Activity to end; it hears of them from the SDK too, and is ours until it has. */
const ours = [ActivityCancelledError, ActivityPausedError, ActivityResetError];
