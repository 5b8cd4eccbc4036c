import type { ActivityLimits } from "../activity-dependencies";
import type { ClusterTarget } from "../contract";
import { DriverError, isAnsweredForNow, isBusy } from "../drivers/driver-error";
import type { VlcmClient } from "../drivers/vlcm/vlcm-client";
import { GiveUpError, type RetryPolicy } from "../retry-policy";
import { isDesired } from "../target-image";
import { startOf } from "./apply-verdict";
import type { RemediationTracker } from "./remediation-tracker";
import { desiredImageChanged, noTrace } from "./remediation-errors";

/** Requests that may leave no trace in the component manager before that is an error. */
const maximumRequests = 5;

/** Milliseconds by which two clocks are taken to differ where the last known result leaves room for it. */
const clockSlack = 2_000;

/** Why it is uncertain how an attempt stands, so that it has to wait and look again. */
type Uncertain = "busy" | "away" | "unanswered" | "forgotten";

interface RequestsOptions {
  readonly client: VlcmClient;
  readonly input: ClusterTarget & { readonly commit?: string };
  readonly limits: ActivityLimits;
  readonly retryPolicy: RetryPolicy;
  readonly progress: RemediationTracker;
  /** Whether an earlier run may have asked for a remediation, which this run cannot know for sure. */
  readonly mayHaveRequested: boolean;
}

interface RemediationRequest {
  /** Ids of the hosts, and what they are called in errors. */
  readonly hosts: readonly string[];
  readonly named: string;
  /** The last result of this host tells from when on a result is that of this request. */
  readonly witness: string;
  /** Heartbeats that the request is about to be made; `requestedAt` by the component manager's clock, in epoch milliseconds. */
  readonly intend: (requestedAt: number) => void;
}

/** What an attempt knows of its requests for a remediation, and for how long it has been uncertain of them. */
export class RemediationRequests {
  readonly #o: RequestsOptions;
  /** Since when each has been uncertain. */
  readonly #uncertain = new Map<Uncertain, number>();
  #withoutTrace = 0;
  #areKnown: boolean;

  /** `areKnown`: whether this attempt or an earlier one is known to have asked for a remediation. */
  constructor(options: RequestsOptions, areKnown: boolean) {
    this.#o = options;
    this.#areKnown = areKnown;
  }

  get areKnown(): boolean {
    return this.#areKnown;
  }

  get arePossible(): boolean {
    return this.#areKnown || this.#o.mayHaveRequested;
  }

  /** What runs is of a request that no run knew of. */
  found(): void {
    this.#areKnown = true;
  }

  /** Hosts have moved, so the requests have left a trace. */
  moved(): void {
    this.#withoutTrace = 0;
  }

  /** Asks for a remediation. True where the answer says how it goes on; false where that has to be found out. */
  async ask({ hosts, named, witness, intend }: RemediationRequest): Promise<boolean> {
    const { client, retryPolicy, progress, input, limits } = this.#o;
    const { cluster } = input.cluster;
    const desired = await retryPolicy.retry(() => client.readDesiredImage(cluster));
    if (!isDesired(desired, input)) throw desiredImageChanged(input, desired.base_image.version);
    if (++this.#withoutTrace > maximumRequests) throw noTrace(named, maximumRequests);

    const last = await retryPolicy.retry(() => client.readLastApplyResult(cluster));
    const lastStart = last && startOf(last, witness);
    const wereKnown = this.#areKnown;
    this.#areKnown = true;
    intend(Math.max(client.now() - clockSlack, (lastStart ?? 0) + 1));
    try {
      const commit = input.commit === undefined ? {} : { commit: input.commit };
      // Not through retryPolicy: a request whose answer is lost must not be repeated without looking.
      progress.attach(await retryPolicy.once(() => client.apply(cluster, { hosts, ...commit })));
      this.#uncertain.clear();
      return true;
    } catch (error) {
      if (!(error instanceof DriverError) || error.kind === "permanent") throw error;
      progress.note(error.message);
      if (isBusy(error) || error.kind === "alreadyDone") {
        // Refused: this request, unlike one without an answer, has certainly started nothing.
        this.#areKnown = wereKnown;
        progress.retract();
      }
      if (isBusy(error)) this.waitAtMost("busy", () => new GiveUpError(error, limits.operationBusy));
      // Also "already in the desired state" is looked up: it is the host that has to say so.
      else if (error.kind === "transient") this.waitAtMost("unanswered", () => new GiveUpError(error, limits.outage));
      if (isAnsweredForNow(error)) this.#withoutTrace--;
      return false;
    }
  }

  /**
   * From when on a remediation must be ours, by the component manager's clock; undefined where this attempt cannot have
   * asked. `hasFailures`: an attempt at one of the hosts has failed before.
   */
  since(hasFailures: boolean): number | undefined {
    const { client, progress, retryPolicy } = this.#o;
    const { requestedAt } = progress.current;
    if (requestedAt !== undefined) return Date.parse(requestedAt);
    // A crash may have lost the heartbeat of the intent, never the attempt's beginning. That is our clock's.
    if (!this.arePossible) return undefined;
    return progress.began + (client.now() - retryPolicy.clock.timeOfDay()) - (hasFailures ? 0 : clockSlack);
  }

  /** Throws the error once this has been uncertain for as long as its limit. */
  waitAtMost(what: Uncertain, error: () => Error): void {
    if (this.isOver(what)) throw error();
  }

  /** Whether this, uncertain from the first time that it is asked for, has been so for as long as its limit. */
  isOver(what: Uncertain): boolean {
    const { limits, retryPolicy } = this.#o;
    const bound = {
      // What keeps the cluster busy may well be our own remediation, if there is one.
      busy: this.#areKnown ? Math.max(limits.stall, limits.operationBusy) : limits.operationBusy,
      away: limits.reconnect,
      unanswered: limits.outage,
      forgotten: limits.stall,
    }[what];
    const since = this.#uncertain.get(what) ?? retryPolicy.clock.now();
    this.#uncertain.set(what, since);
    return retryPolicy.clock.now() - since >= bound;
  }
}
