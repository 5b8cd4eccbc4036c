import { type CheckAnswer, checkError, type PlannedCheck } from "../../src/domain/checks/own-check";
import type { ErrorBody } from "../../src/domain/errors";
import type { ResourcePlan } from "../../src/domain/plan/upgrade-plan";
import type { Stage, SubTask } from "../../src/domain/spec/task";
import { answeredStage, askedStage } from "../../src/domain/task/check-stages";
import { checksAt, checksSubTask } from "../../src/domain/task/own-checks";
import { currentTime, now } from "../clock";
import { askAll, type CheckRound, checksValidFor } from "../own-checks";
import { pauseForCheck } from "./resource-check-gate";
import type { UpgradeState } from "./upgrade-state";

/** How many resources a check is told of. */
const mostTold = 100;

/** How a round of the checks has ended. INTERRUPTED: the upgrade is another one now, and has to see what is due. */
type Round = { readonly outcome: "PASSED" | "INTERRUPTED" } | { readonly outcome: "FAILED"; readonly error: ErrorBody };

/**
 * Asks the checks of the inventory before the first resource of an attempt begins, one after another. One that does not pass keeps
 * the upgrade waiting, pauses it, or fails it, as the inventory says.
 */
export class UpgradeChecks {
  private readonly checks: readonly PlannedCheck[];
  private validUntil = 0;
  private hasBegun = false;
  private part: SubTask | undefined;
  private isWaiting = false;
  /** Ids of checks that an operator has accepted by resuming. */
  private readonly accepted = new Set<string>();
  /** Until when a check kept the upgrade from beginning (epoch milliseconds); 0 where none has. */
  heldUntil = 0;

  constructor(private readonly state: UpgradeState) {
    this.checks = checksAt(state.plan.checks, "BEFORE_UPGRADE");
  }

  /** Whether no check has to be asked before something begins now. */
  get areDone(): boolean {
    return this.checks.length === 0 || this.hasBegun || currentTime() < this.validUntil;
  }

  /** The first resource begins: nothing is asked any more. */
  begun(): void {
    this.hasBegun = true;
  }

  /** Asks all of them for resources that are due. */
  async run(due: readonly ResourcePlan[]): Promise<Round> {
    this.change({ ...checksSubTask(this.checks, now()), status: "IN_PROGRESS" });
    let failure: ErrorBody | undefined;
    const areAsked = await askAll(this.checks, this.roundFor(due), async (check, answer) => {
      this.answered(check, answer);
      if (answer.verdict === "PASSED" || this.accepted.has(check.id)) return true;
      const error = checkError(check, answer);
      if (check.onFailure === "FAIL") {
        failure = error;
        return false;
      }
      await pauseForCheck(this.state, error);
      this.heldUntil = currentTime();
      this.accepted.add(check.id);
      return true;
    });
    if (failure) {
      this.end("FAILED");
      return { outcome: "FAILED", error: failure };
    }
    if (!areAsked) return { outcome: "INTERRUPTED" };
    this.end(this.accepted.size === 0 ? "SUCCESSFUL" : "FAILED");
    this.validUntil = currentTime() + checksValidFor;
    return { outcome: "PASSED" };
  }

  private roundFor(due: readonly ResourcePlan[]): CheckRound {
    const { plan, times, checkDecisions: decisions } = this.state;
    const { changes } = times;
    const resources = due.slice(0, mostTold).map(({ resourceId, name }) => ({ resourceId, name }));
    return {
      at: "BEFORE_UPGRADE",
      upgrade: { id: plan.id, name: plan.name, bundleId: plan.bundle.id, resources },
      decisions,
      asked: (check, text) => this.changeStage(check, (stage) => askedStage(stage, text)),
      waits: (message) => this.waits(due, message),
      // The schedule, the scope or the approval of the upgrade has changed.
      isOther: () => times.changes !== changes,
    };
  }

  private waits(due: readonly ResourcePlan[], message: string | undefined): void {
    const closed = message === undefined ? undefined : ({ code: "CHECK", message } as const);
    this.state.closuresChanged(due, closed);
    if (this.isWaiting && !closed) this.heldUntil = currentTime();
    this.isWaiting = closed !== undefined;
  }

  private change(part: SubTask): void {
    this.part = part;
    this.state.record({ type: "ChecksChanged", subTask: part });
    this.state.publish();
  }

  private end(status: "SUCCESSFUL" | "FAILED"): void {
    if (!this.part) return;
    const errors = (this.part.stages ?? []).flatMap((stage) => stage.errors ?? []);
    this.change({ ...this.part, status, completionTimestamp: now(), ...(errors.length > 0 && { errors }) });
  }

  private answered(check: PlannedCheck, answer: CheckAnswer): void {
    const at = now();
    this.changeStage(check, (stage) => answeredStage(stage, check, answer, at));
  }

  private changeStage(check: PlannedCheck, change: (stage: Stage) => Stage): void {
    if (!this.part) return;
    const i = this.checks.indexOf(check);
    const stages = (this.part.stages ?? []).map((stage, place) => (place === i ? change(stage) : stage));
    this.change({ ...this.part, stages });
  }
}
