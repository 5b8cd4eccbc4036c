import { CancelledFailure } from "@temporalio/common";
import { type Clock, monotonicClock, timeWithSuspension } from "../src/clock";
import type { ErrorBody } from "../src/domain/errors";
import { type Freeze, freezeUnreadable, frozenError } from "../src/domain/freeze";
import { closedError, type MaintenancePlace, type Opening } from "../src/domain/opening";
import type { FreezeFound, FreezeLook } from "./contract";
import { type Lease, requireLease, withLease } from "./drivers/lease";
import { stillFrozenFailure } from "./failures";

/** Gives the freezes that concern something of these domains. Rejects where they cannot be read. */
export type ReadFreezes = (domains: readonly string[]) => Promise<readonly Freeze[]>;

/** What can keep something from beginning: freezes, and the calendar of the inventory at this moment. */
export interface Closures {
  readonly readFreezes: ReadFreezes;
  openingOf(places: readonly MaintenancePlace[]): Opening;
}

/** Runs a request that begins something: it is sent only while nothing is frozen. Throws FrozenError, and nothing was sent. */
export type Begin = <A>(request: () => Promise<A>) => Promise<A>;

/** Milliseconds after a look at the freezes in which a request may begin something. A freeze takes effect within 5 s. */
const validFor = 3_000;

/** From this age of a look on there is another one first. */
const renewedAfter = 1_000;

/** Nothing may begin: nothing was sent. Ends an Activity as its cancellation does, past whatever handles its errors. */
export class FrozenError extends CancelledFailure {
  constructor(readonly body: ErrorBody) {
    super(body.message);
  }
}

/** The Activity: fails, so that Temporal tries it again, as long as what is known holds. */
export async function lookAtFreeze(closures: Closures, { places, known }: FreezeLook): Promise<FreezeFound> {
  const found = await findClosure(closures, places);
  if (found.error !== undefined && found.error.message === known) throw stillFrozenFailure(found.error);
  return found;
}

/** Why nothing may begin now that belongs to all these places; undefined where it may. */
export async function findFreeze(
  closures: Closures,
  places: readonly MaintenancePlace[],
): Promise<ErrorBody | undefined> {
  return (await findClosure(closures, places)).error;
}

/** The same, with the end of what is open. */
async function findClosure(
  { readFreezes, openingOf }: Closures,
  places: readonly MaintenancePlace[],
): Promise<FreezeFound> {
  try {
    const [freeze] = await readFreezes([...new Set(places.map(({ domain }) => domain))]);
    if (freeze) return { error: frozenError(freeze) };
    const opening = openingOf(places);
    if (!opening.isOpen) return { error: closedError(opening) };
    return opening.closesAt === undefined ? {} : { closesAt: opening.closesAt };
  } catch (error) {
    const why = (error instanceof Error ? error.message : String(error)).replace(/\.$/, "").slice(0, 300);
    return { error: freezeUnreadable(why) };
  }
}

/**
 * What begins something looks at the freezes itself, in the moment in which its request is written: nothing that happens between a
 * look of the Workflow and the request (a worker that is killed, frozen or late) can then begin it. Once the component manager
 * has answered one such request, those that follow in the same call are part of what has begun.
 */
export function beginUnder(
  closures: Closures,
  places: readonly MaintenancePlace[],
  clock: Clock = suspensionClock,
): Begin {
  const check = async () => {
    const frozen = await findFreeze(closures, places);
    if (frozen) throw new FrozenError(frozen);
  };
  const isOpen = () => closures.openingOf(places).isOpen;
  return (request) => withLease(new BeginningLease(requireLease("begin"), { check, isOpen }, clock), request);
}

const suspensionClock: Clock = { ...monotonicClock, now: timeWithSuspension };

/** What the calendar says is asked at the write itself: a window closes at its time, not some seconds after a look. */
interface Look {
  /** Throws FrozenError. */
  check(): Promise<void>;
  isOpen(): boolean;
}

/** The lease of an Activity, good for changes only while a look has found nothing frozen, and the window is open. */
class BeginningLease implements Lease {
  #lookedAt = -Infinity;
  #hasBegun = false;

  constructor(
    private readonly lease: Lease,
    private readonly look: Look,
    private readonly clock: Pick<Clock, "now">,
  ) {}

  async renew(): Promise<void> {
    await this.lease.renew();
    if (this.#hasBegun || (this.#age() < renewedAfter && this.look.isOpen())) return;
    const lookedAt = this.clock.now();
    await this.look.check();
    this.#lookedAt = lookedAt;
  }

  isValid(): boolean {
    return this.lease.isValid() && (this.#hasBegun || (this.#age() < validFor && this.look.isOpen()));
  }

  follow(change: Promise<unknown>): void {
    this.lease.follow(change);
    const noteAnswer = (answer: unknown) => {
      this.#hasBegun ||= isAccepted(answer);
    };
    change.then(noteAnswer, () => undefined);
  }

  lost(milliseconds: number, clock: Clock): void {
    this.lease.lost(milliseconds, clock);
  }

  #age(): number {
    return this.clock.now() - this.#lookedAt;
  }
}

/** Whether the answer to a change is one of success. */
function isAccepted(answer: unknown): boolean {
  const { status } = (answer ?? {}) as { readonly status?: unknown };
  return typeof status === "number" && status >= 200 && status < 300;
}
