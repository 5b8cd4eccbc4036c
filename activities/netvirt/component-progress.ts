import { isRight } from "fp-ts/Either";
import type { ErrorBody } from "../../src/domain/error-body";
import { NetvirtProgress, type NetvirtComponentType, type NetvirtNodeState } from "../../src/domain/netvirt-upgrade";
import { toTimestamp } from "../../src/domain/timestamp";
import { bounded } from "../drivers/driver-error";
import type { ComponentView } from "./component-view";

/** Nodes that a heartbeat holds, and those of them whose errors it does; heartbeats are kept by the server. */
const maximumNodes = 500;
const maximumErrors = 20;

/**
 * What earlier runs have left: the heartbeat details of this Activity or what the Workflow was told of a lost one,
 * whichever knows of more failures. Undefined where this is the first run.
 */
export function knownProgress(
  heartbeatDetails: unknown,
  resume: NetvirtProgress | undefined,
): NetvirtProgress | undefined {
  const decoded = NetvirtProgress.decode(heartbeatDetails);
  const own = isRight(decoded) ? decoded.right : undefined;
  if (!own || !resume) return own ?? resume;
  return resume.reportedFailures > own.reportedFailures ? resume : own;
}

/** The progress of one component's upgrade while the Activity runs; every change is told at once. */
export class ComponentProgressTracker {
  #progress: NetvirtProgress;
  readonly #beat: (progress: NetvirtProgress) => void;

  constructor(
    component: NetvirtComponentType,
    known: NetvirtProgress | undefined,
    maximumAttempts: number,
    beat: (progress: NetvirtProgress) => void,
  ) {
    this.#beat = beat;
    this.#progress = {
      ...(known ?? { component, reportedFailures: 0, activity: "Starting.", percent: 0, nodes: [] }),
      maximumAttempts,
    };
  }

  get current(): NetvirtProgress {
    return this.#progress;
  }

  /** Whether this attempt may have asked the coordinator for the upgrade. */
  get requested(): boolean {
    return this.#progress.requestedAt !== undefined;
  }

  show({ percent, nodes }: ComponentView, activity: string): void {
    this.#change({ percent, nodes: shortened(nodes), activity: bounded(activity, 300) });
  }

  /** Tells the operator what goes on. */
  note(activity: string): void {
    this.#change({ activity: bounded(activity, 300) });
  }

  /** Before the upgrade is asked for, at `now`: whatever becomes of the request, the next run knows that there was one. */
  intend(requestedFrom: string, now: number): void {
    const requestedAt = toTimestamp(now);
    this.#change({ requestedAt, requestedFrom, accepted: false, activity: "Requesting the upgrade." });
  }

  accept(): void {
    this.#change({ accepted: true });
  }

  /** The attempt has failed. `counted` where the coordinator reported it: the next attempt then begins anew. */
  fail(error: ErrorBody, counted: boolean): void {
    const { requestedAt, requestedFrom, accepted, ...rest } = this.#progress;
    this.#progress = {
      ...rest,
      ...(!counted && requestedAt !== undefined && { requestedAt }),
      ...(!counted && requestedFrom !== undefined && { requestedFrom }),
      ...(!counted && accepted !== undefined && { accepted }),
      reportedFailures: rest.reportedFailures + (counted ? 1 : 0),
      activity: bounded(error.message, 300),
      lastError: error,
    };
    this.#beat(this.#progress);
  }

  #change(change: Partial<NetvirtProgress>): void {
    this.#progress = { ...this.#progress, ...change };
    this.#beat(this.#progress);
  }
}

const order: Readonly<Record<NetvirtNodeState["status"], number>> = {
  FAILED: 0,
  IN_PROGRESS: 1,
  SUCCESS: 2,
  NOT_STARTED: 3,
};

/** Those that have begun, the ones that matter most first. */
function shortened(nodes: ComponentView["nodes"]): NetvirtNodeState[] {
  return nodes
    .filter(({ status }) => status !== "NOT_STARTED")
    .sort((a, b) => order[a.status] - order[b.status])
    .slice(0, maximumNodes)
    .map(({ id, status, percent, error }, i) => ({
      id,
      status,
      percent,
      ...(error !== undefined && i < maximumErrors && { error }),
    }));
}
