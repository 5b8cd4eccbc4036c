import { AsyncLocalStorage } from "node:async_hooks";
import { CancelledFailure } from "@temporalio/common";
import type { Clock } from "../../src/clock";

/**
 * The right to change something in a component manager, for as long as the work is ours: after a loss another worker does it,
 * and two must not. Held by whoever runs under {@link withLease}; docs/decisions/0037.
 */
export interface Lease {
  /**
   * Resolves when the lease is known to be valid, which may take as long as Temporal is away. Throws LeaseEndedError
   * where it has ended for good, or the CancelledFailure of an Activity that is to end; nothing may be changed then.
   */
  renew(): Promise<void>;
  /** Whether a change may be sent at this moment. */
  isValid(): boolean;
  /** A change is under way until this settles, also where nobody waits for it any more. The work does not end before. */
  follow(change: Promise<unknown>): void;
  /** A change got no answer, and may still arrive for so many milliseconds. The work does not end before that is over. */
  lost(milliseconds: number, clock: Clock): void;
}

/** The work is no longer ours, or has ended: nothing was changed. Ends an Activity as its cancellation does. */
export class LeaseEndedError extends CancelledFailure {}

/** A change was asked for where no lease is held: a mistake in the program. */
export class NoLeaseError extends Error {
  override readonly name = "NoLeaseError";
}

const held = new AsyncLocalStorage<Lease>();

/** Runs `work`, and everything that it starts, with the lease. */
export function withLease<A>(lease: Lease, work: () => Promise<A>): Promise<A> {
  return held.run(lease, work);
}

/** The lease under which a change is asked for. Throws outside of an Activity, where nothing may be changed. */
export function requireLease(what: string): Lease {
  const lease = held.getStore();
  if (!lease) throw new NoLeaseError(`Only an Activity with heartbeats may change a component manager: "${what}"`);
  return lease;
}
