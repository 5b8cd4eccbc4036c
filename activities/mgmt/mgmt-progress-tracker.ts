import { isRight } from "fp-ts/Either";
import type { ErrorBody } from "../../src/domain/error-body";
import { MgmtProgress } from "../../src/domain/mgmt-progress";
import { toTimestamp } from "../../src/domain/timestamp";
import { bounded } from "../drivers/driver-error";

/**
 * What earlier runs have left: the heartbeat details of this Activity or what the Workflow was told of a lost one,
 * whichever knows of more failures. Undefined where this is the first run.
 */
export function knownMgmtProgress(details: unknown, resume: MgmtProgress | undefined): MgmtProgress | undefined {
  const decoded = MgmtProgress.decode(details);
  const own = isRight(decoded) ? decoded.right : undefined;
  if (!own || !resume) return own ?? resume;
  return resume.reportedFailures > own.reportedFailures ? resume : own;
}

/** The request for a change as far as it is known; empty where none was made. */
type Requested = Pick<MgmtProgress, "requestedAt" | "accepted">;

/** The progress of a step while its Activity runs; every change is told at once. */
export class MgmtProgressTracker {
  #progress: MgmtProgress;
  readonly #beat: (progress: MgmtProgress) => void;

  constructor(known: MgmtProgress | undefined, maximumAttempts: number, beat: (progress: MgmtProgress) => void) {
    this.#beat = beat;
    this.#progress = known ?? { reportedFailures: 0, activity: "Starting.", maximumAttempts };
  }

  get current(): MgmtProgress {
    return this.#progress;
  }

  /** Tells the operator what goes on, and how far it is where that is known. */
  note(activity: string, percent?: number): void {
    const { percent: _, ...rest } = this.#progress;
    this.#change({ ...rest, activity: bounded(activity, 300), ...(percent !== undefined && { percent }) });
  }

  /** Before a change is asked for: whatever becomes of the request, the next run knows that there was one. */
  intend(requestedAt: number): void {
    const { accepted: _, ...rest } = this.#progress;
    this.#change({ ...rest, requestedAt: toTimestamp(requestedAt) });
  }

  /** The request was accepted. */
  accept(): void {
    this.#change({ ...this.#progress, accepted: true });
  }

  /** The request was refused: what was known before it holds again. */
  retract({ requestedAt, accepted }: Requested): void {
    const { requestedAt: _, accepted: __, ...rest } = this.#progress;
    this.#change({
      ...rest,
      ...(requestedAt !== undefined && { requestedAt }),
      ...(accepted !== undefined && { accepted }),
    });
  }

  /** The attempt has failed. `counted` where it uses up an attempt, so that the next one begins anew. */
  fail(error: ErrorBody, counted: boolean): void {
    const { percent: _, requestedAt, accepted, ...rest } = this.#progress;
    this.#change({
      ...rest,
      ...(!counted && requestedAt !== undefined && { requestedAt }),
      ...(!counted && accepted !== undefined && { accepted }),
      reportedFailures: rest.reportedFailures + (counted ? 1 : 0),
      activity: bounded(error.message, 300),
      lastError: error,
    });
  }

  #change(progress: MgmtProgress): void {
    this.#progress = progress;
    this.#beat(progress);
  }
}
