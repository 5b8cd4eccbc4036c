import { isRight } from "fp-ts/Either";
import { stagesOf } from "../../src/domain/resource-stages";
import type { ErrorBody } from "../../src/domain/error-body";
import { HostProgress, type HostStageType } from "../../src/domain/host-remediation";
import type { Stage } from "../../src/domain/task";
import { toTimestamp } from "../../src/domain/timestamp";
import { bounded } from "../drivers/driver-error";

/**
 * What earlier runs have left of a host: the heartbeat details of this Activity or what the Workflow was told of a lost
 * one, whichever knows of more failures. Undefined where neither tells of this host.
 */
export function knownProgress(
  host: string,
  heartbeatDetails: unknown,
  resume: HostProgress | undefined,
): HostProgress | undefined {
  const decoded = HostProgress.decode(heartbeatDetails);
  const own = isRight(decoded) && decoded.right.host === host ? decoded.right : undefined;
  const lost = resume?.host === host ? resume : undefined;
  if (!own || !lost) return own ?? lost;
  return lost.reportedFailures > own.reportedFailures ? lost : own;
}

/** Whether the attempt that the progress tells of has failed and nothing of it can be running, so that the next is fresh. */
function attemptHasEnded({ stages, remoteTask, requestedAt }: HostProgress): boolean {
  const failed = stages.length === 0 || stages.some(({ status }) => status === "FAILED");
  return failed && remoteTask === undefined && requestedAt === undefined;
}

/**
 * The progress of one host's remediation while the Activity runs; every change is told at once. `S` are the types
 * of its stages.
 */
export class HostProgressTracker<S extends string = HostStageType> {
  #progress: HostProgress;
  readonly #beat: (progress: HostProgress) => void;
  readonly #types: readonly S[];

  /** Goes on with the attempt that `known` tells of, unless that has ended. `stages` are in their order. */
  constructor(
    host: string,
    known: HostProgress | undefined,
    beat: (progress: HostProgress) => void,
    stages: Readonly<Record<S, string>>,
  ) {
    this.#beat = beat;
    this.#types = Object.keys(stages) as S[];
    if (known && !attemptHasEnded(known)) {
      this.#progress = known;
      return;
    }
    this.#progress = {
      host,
      reportedFailures: known?.reportedFailures ?? 0,
      activity: known ? "Trying again after a failure." : "Starting.",
      stages: freshStages(stages),
      ...(known?.lastError && { lastError: known.lastError }),
    };
  }

  get current(): HostProgress {
    return this.#progress;
  }

  /** When this attempt began, by this machine's clock, in epoch milliseconds. */
  get began(): number {
    return Date.parse(this.#progress.stages[0]?.creationTimestamp ?? "") || Date.now();
  }

  /** Whether a stage of this attempt has ended well. */
  has(type: S): boolean {
    return this.#progress.stages[this.#types.indexOf(type)]?.status === "SUCCESSFUL";
  }

  /** When the host had last started as this attempt began. */
  booted(bootTime: string): void {
    this.#change({ bootTime });
  }

  /** Enters a stage: the ones before it have succeeded. Entering it again changes nothing. */
  begin(type: S, activity: string): void {
    const now = toTimestamp(Date.now());
    const index = this.#types.indexOf(type);
    const stages = this.#progress.stages.map((stage, i): Stage => {
      if (i < index && stage.status !== "SUCCESSFUL") return ended(stage, "SUCCESSFUL", now);
      if (i !== index || stage.status === "IN_PROGRESS") return stage;
      const { completionTimestamp: _, errors: __, ...begun } = stage;
      return { ...begun, status: "IN_PROGRESS", creationTimestamp: i === 0 ? stage.creationTimestamp : now };
    });
    this.#change({ stages, activity });
  }

  /** All stages up to this one have succeeded. */
  succeed(last: S, activity: string): void {
    const now = toTimestamp(Date.now());
    const index = this.#types.indexOf(last);
    const stages = this.#progress.stages.map((stage, i) =>
      i <= index && stage.status !== "SUCCESSFUL" ? ended(stage, "SUCCESSFUL", now) : stage,
    );
    this.#change({ stages, activity });
  }

  /** Tells the operator what goes on, and how far it is (0 to 100) where that is known. */
  note(activity: string, percent?: number): void {
    this.#change({ activity: bounded(activity, 300), ...(percent !== undefined && { percent }) });
  }

  /** Before the remediation is asked for: whatever becomes of the request, the next run knows that there was one. */
  intend(requestedAt: number): void {
    this.#change({ requestedAt: toTimestamp(requestedAt), activity: "Requesting the remediation." });
  }

  /** The request was refused: what was known before it holds again. */
  retract(requestedAt: string | undefined): void {
    const { requestedAt: _, ...rest } = this.#progress;
    this.#progress = { ...rest, ...(requestedAt !== undefined && { requestedAt }) };
    this.#beat(this.#progress);
  }

  /** The remediation runs as this task of the component manager. */
  attach(remoteTask: string): void {
    this.#change({ remoteTask, requestedAt: this.#progress.requestedAt ?? toTimestamp(this.began) });
  }

  /** The task is not known to the component manager any more, or was somebody else's. */
  detach(): void {
    const { remoteTask: _, ...rest } = this.#progress;
    this.#progress = rest;
    this.#beat(rest);
  }

  /**
   * The attempt has failed. `counted` where the component manager reported it and it uses up an attempt: it is over then.
   * Otherwise a remediation may still run there, and the next run has to find it.
   */
  fail(error: ErrorBody, counted: boolean): void {
    const now = toTimestamp(Date.now());
    const { remoteTask, requestedAt, ...rest } = this.#progress;
    const { causes: _, context: __, ...brief } = error;
    const open = rest.stages.findIndex(({ status }) => status === "IN_PROGRESS" || status === "PENDING");
    this.#progress = {
      ...rest,
      ...(!counted && remoteTask !== undefined && { remoteTask }),
      ...(!counted && requestedAt !== undefined && { requestedAt }),
      reportedFailures: rest.reportedFailures + (counted ? 1 : 0),
      activity: bounded(error.message, 300),
      lastError: error,
      stages: rest.stages.map((stage, i) => (i === open ? { ...ended(stage, "FAILED", now), errors: [brief] } : stage)),
    };
    this.#beat(this.#progress);
  }

  #change(change: Partial<HostProgress>): void {
    // What was so far on its way says nothing of what comes next.
    const { percent: _, ...known } = this.#progress;
    this.#progress = { ...known, ...change };
    this.#beat(this.#progress);
  }
}

function freshStages(stages: Readonly<Record<string, string>>): Stage[] {
  return stagesOf(stages, toTimestamp(Date.now()));
}

function ended(stage: Stage, status: "SUCCESSFUL" | "FAILED", completionTimestamp: string): Stage {
  return { ...stage, status, completionTimestamp };
}
