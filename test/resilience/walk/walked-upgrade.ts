import type { ErrorBody } from "../../../src/domain/errors";
import { begun, byItself, type Circumstances, type Due, mayHold, type Place } from "./upgrade-model";
import type { WalkedCluster } from "./walk-platform";

/** How an upgrade was asked for. */
export interface Start {
  readonly draft: boolean;
  readonly due: Due;
  /** Attempts of a host before its upgrade fails. */
  readonly attempts: number;
}

/** Milliseconds for which a cluster's last holder may still be visible as such. */
const visibilityLag = 5_000;

/** An upgrade that was accepted, and all that is known of where it is. */
export class WalkedUpgrade {
  places: readonly Place[];
  /** When its places were last compared with what was answered or read, in epoch milliseconds. */
  knownAt = Date.now();
  /** How often hosts and prechecks of its cluster may have failed since it began, as far as faults were asked for. */
  hostFailures = 0;
  checkFailures = 0;
  /** Another upgrade may have held its cluster when it wanted to. */
  rivalled = false;
  /** Another upgrade may have had hosts of its cluster in maintenance mode, which prechecks then find. */
  besideWork = false;
  /** A host of its cluster was held or left out while it was there. */
  mayLeaveOut = false;
  private held = false;
  private lastHeld = -Infinity;

  constructor(
    readonly id: string,
    readonly slot: Slot,
    readonly version: number,
    readonly start: Start,
  ) {
    this.places = begun(start.draft, start.due);
  }

  get circumstances(): Circumstances {
    const { others, checksMayFail } = this;
    return {
      mayFail: this.hostsMayFail || checksMayFail || this.rivalled,
      checksMayFail,
      mayBeHeld: others.some((one) => one.mayHoldNow),
      isOnHold: this.slot.hold !== undefined,
      mayLeaveOut: this.mayLeaveOut,
      maySkip: others.some((one) => one.held && one.version === this.version),
    };
  }

  private get others(): readonly WalkedUpgrade[] {
    return this.slot.upgrades.filter((one) => one !== this);
  }

  private get hostsMayFail(): boolean {
    // A host that is held gets no further attempt (operating.md, Holds).
    return this.hostFailures >= (this.mayLeaveOut ? 1 : this.start.attempts);
  }

  private get checksMayFail(): boolean {
    return this.checkFailures > 0 || this.isOutdated || this.besideWork;
  }

  /** Whether it may have failed with an error: for a fault, for a newer version, or for another upgrade, which it names. */
  explains({ errorCode, context, nestedErrors = [] }: ErrorBody): boolean {
    switch (errorCode) {
      case "CLUSTER_LEFT_WITH_WARNINGS":
        return nestedErrors.length > 0 && nestedErrors.every((one) => this.explains(one));
      case "HOST_REMEDIATION_FAILED":
        return this.hostsMayFail;
      case "PRECHECKS_FAILED":
        return this.checksMayFail;
      case "RESOURCE_LOCKED":
        return this.rivalled && this.others.some(({ id }) => id === context?.["upgradeId"]);
      case "HOST_HELD":
      case "HOSTS_SKIPPED":
        return this.mayLeaveOut;
      case "HOST_INCOMPATIBLE":
        // Where the newer version came between the prechecks and the commit, the hosts themselves refuse the older one.
        return this.isOutdated;
      default:
        return false;
    }
  }

  /** Whether it may hold its cluster, or may have until a moment ago. */
  get mayHoldNow(): boolean {
    if (mayHold(this.places)) this.lastHeld = Date.now();
    return Date.now() - this.lastHeld < visibilityLag;
  }

  /** Whether a newer version has come to its cluster, or may have. */
  get isOutdated(): boolean {
    return this.others.some((one) => one.held && one.version > this.version);
  }

  /** Takes the places that explain what has happened; a defect where there are none. */
  now(places: readonly Place[], explain: () => string): void {
    if (places.length === 0) throw new Error(explain());
    this.places = places;
    this.knownAt = Date.now();
    this.slot.noteRivals();
  }

  noteHolding(): void {
    if (mayHold(this.places)) this.held = true;
  }

  /** All places that it may be in by now. */
  get possible(): Place[] {
    return byItself(this.places, this.circumstances);
  }
}

/** A cluster and all that was ever accepted for it. */
export class Slot {
  readonly upgrades: WalkedUpgrade[] = [];
  /** Since when its operator has held the cluster, in epoch milliseconds. */
  hold: number | undefined;
  /** Its hosts that are held. */
  readonly heldHosts = new Set<string>();
  /** The times in which nothing may have begun, since the cluster was held. */
  readonly still: (readonly [from: number, to: number])[] = [];
  private nextVersion = 1;

  constructor(readonly cluster: WalkedCluster) {}

  /** A version that no upgrade of the cluster has had. */
  newVersion(): number {
    return this.nextVersion++;
  }

  get mayBeHeld(): boolean {
    return this.upgrades.some(({ mayHoldNow }) => mayHoldNow);
  }

  /** Upgrades that may want the cluster at the same time may lose it to each other. */
  noteRivals(): void {
    const holders = this.upgrades.filter(({ mayHoldNow }) => mayHoldNow);
    for (const holder of holders) holder.noteHolding();
    if (holders.length > 1) for (const holder of holders) holder.rivalled = true;
    for (const one of this.upgrades) one.besideWork ||= holders.some((holder) => holder !== one);
  }
}
