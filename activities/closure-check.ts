import { CancelledFailure } from "@temporalio/common";
import { type Clock, monotonicClock, timeWithSuspension } from "../src/clock";
import type { ErrorBody } from "../src/domain/errors";
import { type Freeze, freezeUnreadable, frozenError } from "../src/domain/freeze";
import { heldError, type Hold, type HoldTarget, type HostsOfCluster, hostTargets } from "../src/domain/hold";
import { closedError, type MaintenancePlace, type Opening } from "../src/domain/opening";
import type { ClosureFound, ClosureLook } from "./contract";
import { type Lease, requireLease, withLease } from "./drivers/lease";
import { stillClosedFailure } from "./failures";

/** Gives the freezes that concern something of these domains. Rejects where they cannot be read. */
export type ReadFreezes = (domains: readonly string[]) => Promise<readonly Freeze[]>;

/** Gives the holds of these. Rejects where one cannot be read. */
export type ReadHolds = (targets: readonly HoldTarget[]) => Promise<readonly Hold[]>;

/** What can keep something from beginning: freezes, holds, and the calendar of the inventory at this moment. */
export interface Closures {
  readonly readFreezes: ReadFreezes;
  readonly readHolds: ReadHolds;
  openingOf(places: readonly MaintenancePlace[]): Opening;
}

/**
 * Runs a request that begins something, some hosts of a cluster for example: it is sent only while nothing is frozen, none of
 * them is held, and the window is open. Throws ClosureError, and nothing was sent.
 */
export type Begin = <A>(request: () => Promise<A>, hosts?: HostsOfCluster) => Promise<A>;

/** Milliseconds after a look at freezes and holds in which a request may begin something. A freeze takes effect within 5 s. */
const validFor = 3_000;

/** From this age of a look on there is another one first. */
const renewedAfter = 1_000;

/** Nothing may begin: nothing was sent. Ends an Activity as its cancellation does, past whatever handles its errors. */
export class ClosureError extends CancelledFailure {
  constructor(readonly body: ErrorBody) {
    super(body.message);
  }
}

/** The Activity: fails, so that Temporal tries it again, as long as what is known holds. */
export async function lookAtClosure(closures: Closures, { places, known }: ClosureLook): Promise<ClosureFound> {
  const found = await findClosure(closures, places);
  if (found.error !== undefined && found.error.message === known) throw stillClosedFailure(found.error);
  return found;
}

/** Why something may not begin now that belongs to all these places; undefined where all of it may. */
export async function whyClosed(
  closures: Closures,
  places: readonly MaintenancePlace[],
  hosts?: HostsOfCluster,
): Promise<ErrorBody | undefined> {
  return (await findClosure(closures, places, hosts)).error;
}

/** The same, with the end of what is open. A freeze or the calendar closes all of the places, holds only their clusters and hosts: they are told where nothing else is why. */
async function findClosure(
  { readFreezes, readHolds, openingOf }: Closures,
  places: readonly MaintenancePlace[],
  hosts?: HostsOfCluster,
): Promise<ClosureFound> {
  const clusters = [...new Set(places.flatMap(({ clusters: known = [] }) => known))];
  const targets = [...clusters.map((clusterId) => ({ clusterId })), ...(hosts ? hostTargets(hosts) : [])];
  try {
    const [[freeze], holds] = await Promise.all([
      readFreezes([...new Set(places.map(({ domain }) => domain))]),
      targets.length === 0 ? [] : readHolds(targets),
    ]);
    if (freeze) return { error: frozenError(freeze) };
    const opening = openingOf(places);
    if (!opening.isOpen) return { error: closedError(opening) };
    // That of a cluster first: it is waited for.
    const held = [...holds]
      .sort((a, b) => Number(a.hostId !== undefined) - Number(b.hostId !== undefined))
      .map((hold) => ({ cluster: hold.clusterId, error: heldError(hold) }));
    return {
      ...(held[0] && { error: held[0].error, held }),
      ...(opening.closesAt !== undefined && { closesAt: opening.closesAt }),
    };
  } catch (error) {
    return { error: unreadable(error) };
  }
}

/** Why hosts are held that are not to be begun then, by their ids. Throws ClosureError where that cannot be read. */
export async function findHeldHosts(
  { readHolds }: Pick<Closures, "readHolds">,
  hosts: HostsOfCluster,
): Promise<ReadonlyMap<string, ErrorBody>> {
  try {
    const holds = await readHolds(hostTargets(hosts));
    return new Map(holds.map((hold) => [hold.hostId ?? "", heldError(hold)]));
  } catch (error) {
    throw new ClosureError(unreadable(error));
  }
}

function unreadable(error: unknown): ErrorBody {
  return freezeUnreadable((error instanceof Error ? error.message : String(error)).replace(/\.$/, "").slice(0, 300));
}

/**
 * What begins something looks at freezes and holds itself, in the moment in which its request is written: nothing that happens between a
 * look of the Workflow and the request (a worker that is killed, frozen or late) can then begin it. Once the component manager
 * has answered one such request, those that follow in the same call are part of what has begun.
 */
export function beginUnder(
  closures: Closures,
  places: readonly MaintenancePlace[],
  clock: Clock = suspensionClock,
): Begin {
  const isOpen = () => closures.openingOf(places).isOpen;
  return (request, hosts) => {
    const check = async () => {
      const closed = await whyClosed(closures, places, hosts);
      if (closed) throw new ClosureError(closed);
    };
    return withLease(new BeginningLease(requireLease("begin"), { check, isOpen }, clock), request);
  };
}

const suspensionClock: Clock = { ...monotonicClock, now: timeWithSuspension };

/** What the calendar says is asked at the write itself: a window closes at its time, not some seconds after a look. */
interface Look {
  /** Throws ClosureError. */
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
