import type { CheckAnswer, CheckPoint } from "../src/domain/checks/own-check";

/** Which check is asked, and what a webhook is told. Where it is and its secrets stay with the worker. */
export interface CheckInput {
  /** Its id in the inventory. */
  readonly check: string;
  /** Tells this ask from all others; a later decision names it. */
  readonly askId: string;
  readonly at: CheckPoint;
  readonly intervalSeconds: number;
  readonly upgrade: CheckedUpgrade;
  /** What it said last: asked again until it passes, or says something else for long. */
  readonly known?: string;
  /** How often it has said something else since it is waited for: the more often, the longer what it says next is kept back. */
  readonly told?: number;
  /** Seconds until it is asked first, where that is not `intervalSeconds`. */
  readonly firstSeconds?: number;
}

/** What a check is told of an upgrade. */
export interface CheckedUpgrade {
  readonly id: string;
  readonly name: string;
  readonly bundleId: string;
  /** Those that begin, at most a hundred; later that which is in work, or is upgraded. */
  readonly resources: readonly {
    readonly resourceId: string;
    readonly name: string;
    /** The hosts that begin or have ended, at most a hundred. */
    readonly hosts?: readonly CheckedHost[];
  }[];
}

/** A host by its id, and its name. */
export interface CheckedHost {
  readonly hostId: string;
  readonly name: string;
}

/** The Activity that asks the checks of the inventory. */
export interface CheckActivities {
  /** Asks a check. With `known` it fails, to be tried again, while the check does not pass. */
  askCheck(input: CheckInput): Promise<CheckAnswer>;
}
