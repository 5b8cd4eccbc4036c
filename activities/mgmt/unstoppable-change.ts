import { DriverError } from "../drivers/driver-error";
import { GiveUpError } from "../retry-policy";
import { StallTimer } from "../stall-timer";
import { ChangeRequest } from "./change-request";
import type { MgmtStepContext } from "./mgmt-step";
import { type Moving, movingParts } from "./mgmt-view";

/**
 * A change of a management server that cannot be stopped once it has begun, and during which the server goes away and
 * comes back. It is brought to its end also where the upgrade is cancelled.
 */
export class UnstoppableChange {
  readonly request: ChangeRequest;
  readonly #context: MgmtStepContext;
  readonly #named: string;
  readonly #outage: ManagerOutage;
  readonly #stallTimer: StallTimer;
  #wasSeen = false;

  /** `named`: what the change is, with its article. */
  constructor(context: MgmtStepContext, named: string) {
    this.#context = context;
    this.#named = named;
    this.request = new ChangeRequest(context);
    this.#outage = new ManagerOutage(context);
    this.#stallTimer = new StallTimer(context.retryPolicy.clock);
  }

  /** Whether it was seen at work. */
  get wasSeen(): boolean {
    return this.#wasSeen;
  }

  /** Whether one that is under way may be ours. */
  get mayBeOurs(): boolean {
    return this.#wasSeen || this.request.possible;
  }

  /** What is read; undefined while the server is away. `readBefore` is for as long as none of ours can be under way. */
  async read<View>(read: () => Promise<View>, readBefore = read): Promise<View | undefined> {
    if (!this.mayBeOurs) return this.#context.retryPolicy.retry(readBefore);
    const view = await this.#outage.read(read);
    if (view === undefined) this.#stallTimer.blind();
    return view;
  }

  /** It is seen at work. Whether it has made no progress for too long. */
  hasStalled(state: string, moving: Moving): boolean {
    this.#wasSeen = true;
    this.#stallTimer.look(movingParts(state, moving));
    return this.#stallTimer.stalledFor >= this.#context.limits.mgmtStall;
  }

  /** Tells the operator what goes on, and that a cancellation does not end it. */
  note(what: string, percent?: number): void {
    const { progress, stopping } = this.#context;
    progress.note(stopping ? `Cancelled, but ${this.#named} must finish: ${what}` : what, percent);
  }
}

/**
 * Reads of a management server that is expected to go away and come back. While it restarts it answers with anything:
 * nothing, 503, 404 of services that are not there yet, 401 of a login that cannot be checked yet.
 */
class ManagerOutage {
  readonly #context: MgmtStepContext;
  #since: number | undefined;

  constructor(context: MgmtStepContext) {
    this.#context = context;
  }

  /** What is read; undefined while the server is away. Throws the last error where it is away for too long. */
  async read<A>(read: () => Promise<A>): Promise<A | undefined> {
    const { progress, limits, input, retryPolicy } = this.#context;
    const asked = retryPolicy.clock.now();
    try {
      const answer = await retryPolicy.once(read);
      this.#since = undefined;
      return answer;
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      this.#since ??= asked;
      if (retryPolicy.clock.now() - this.#since >= limits.mgmtAbsence) throw new GiveUpError(error, limits.mgmtAbsence);
      progress.note(`Waiting for ${input.server.name} to come back: ${error.message}`);
      return undefined;
    }
  }
}
