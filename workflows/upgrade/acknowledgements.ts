import {
  type AskedAcknowledgement,
  meantFindings,
  type PrecheckedContext,
} from "../../src/domain/requests/acknowledge";
import type { Acknowledgement } from "../../src/domain/spec/finding";
import type { Task } from "../../src/domain/spec/task";
import {
  type AcknowledgedFinding,
  currentFindings,
  findingKey,
  isInForce,
  isSameFinding,
} from "../../src/domain/task/findings";
import { toEpochMilliseconds } from "../../src/domain/timestamp";
import { currentTime } from "../clock";

/** The upgrade whose findings are acknowledged. */
interface Prechecked {
  readonly plan: { readonly id: string };
  readonly task: Task;
  /** Called when another set of findings is acknowledged, or no longer is. */
  findingsAcknowledged(all: readonly AcknowledgedFinding[]): void;
}

/** The findings of an upgrade's prechecks that operators have acknowledged, for all of its runs of them. */
export class Acknowledgements {
  private given: readonly AcknowledgedFinding[];
  /** The end of those that have ended by then is known (epoch milliseconds). */
  private knownUntil = currentTime();
  /** Counts what changes them. */
  changes = 0;

  /** `before`: of an earlier run of the Workflow. */
  constructor(
    private readonly upgrade: Prechecked,
    before: readonly AcknowledgedFinding[] = [],
  ) {
    this.given = before;
  }

  get all(): readonly AcknowledgedFinding[] {
    return this.given;
  }

  /** What a decision on an acknowledgement depends on. */
  get context(): PrecheckedContext {
    const { plan, task } = this.upgrade;
    return { upgradeId: plan.id, findings: currentFindings(task), acknowledged: this.given };
  }

  /** An operator accepts what the latest prechecks have found. A later word on a finding replaces the earlier one. */
  add(asked: AskedAcknowledgement, word: Acknowledgement): void {
    const meant = meantFindings(asked, currentFindings(this.upgrade.task));
    const acknowledged = meant.map(({ finding }) => ({ ...findingKey(finding), ...word }));
    const others = this.given.filter((known) => !acknowledged.some((one) => isSameFinding(one, known)));
    this.given = [...others, ...acknowledged];
    this.changes += 1;
    this.upgrade.findingsAcknowledged(this.given);
  }

  /** Some may have ended by now: what they were of blocks again. */
  noticeEnds(): void {
    const { nextEnd } = this;
    this.knownUntil = currentTime();
    if (nextEnd !== undefined && nextEnd <= this.knownUntil) this.upgrade.findingsAcknowledged(this.given);
  }

  /** When the next of them ends (epoch milliseconds). */
  get nextEnd(): number | undefined {
    const ends = this.given.flatMap(({ until }) => (until === undefined ? [] : [toEpochMilliseconds(until)]));
    const next = Math.min(...ends.filter((end) => end > this.knownUntil));
    return Number.isFinite(next) ? next : undefined;
  }

  inForce(resourceId: string): readonly AcknowledgedFinding[] {
    const now = currentTime();
    return this.given.filter((one) => one.resourceId === resourceId && isInForce(one, now));
  }
}
