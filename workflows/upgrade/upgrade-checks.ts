import { log, proxyActivities, uuid4 } from "@temporalio/workflow";
import type { UpgradeActivities } from "../../activities/contract";
import { type CheckAnswer, checkError, checkText, type PlannedCheck } from "../../src/domain/checks/own-check";
import type { ErrorBody } from "../../src/domain/errors";
import type { ResourcePlan } from "../../src/domain/plan/upgrade-plan";
import type { Stage, SubTask } from "../../src/domain/spec/task";
import { answeredStage, askedStage, checksAt, checksSubTask } from "../../src/domain/task/own-checks";
import { checkOptions } from "../activity-options";
import { currentTime, now } from "../clock";
import { interruptible } from "../interruptible";
import type { UpgradeState } from "./upgrade-state";

const checks = proxyActivities<Pick<UpgradeActivities, "askCheck">>(checkOptions());

/** How long checks that have passed let the upgrade begin; what it then still has to wait for may take longer (milliseconds). */
const validFor = 10 * 60_000;

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
    for (const check of this.checks) {
      const answer = await this.unlessChanged(() => this.answerOf(check, due));
      if (answer === undefined) return { outcome: "INTERRUPTED" };
      const at = now();
      this.changeStage(check, (stage) => answeredStage(stage, check, answer, at));
      if (answer.verdict === "PASSED" || this.accepted.has(check.id)) continue;
      const error = checkError(check, answer);
      log.warn("A check of the inventory did not pass", { check: check.id, onFailure: check.onFailure });
      if (check.onFailure === "FAIL") {
        this.end("FAILED");
        return { outcome: "FAILED", error };
      }
      this.state.activity.checkFailed(error);
      this.state.enter("PAUSED", [error]);
      await this.state.untilResumed();
      this.heldUntil = currentTime();
      this.accepted.add(check.id);
      this.state.warnings.push(error);
    }
    this.end(this.accepted.size === 0 ? "SUCCESSFUL" : "FAILED");
    this.validUntil = currentTime() + validFor;
    return { outcome: "PASSED" };
  }

  /** The answer; of a check that is waited for, once it passes. */
  private async answerOf(check: PlannedCheck, due: readonly ResourcePlan[]): Promise<CheckAnswer> {
    this.changeStage(check, (stage) => askedStage(stage));
    const wait = (message: string, text: string) => {
      this.isWaiting = true;
      this.changeStage(check, (stage) => askedStage(stage, text));
      for (const { resourceId } of due) this.state.closureChanged(resourceId, { code: "CHECK", message });
    };
    try {
      let answer = await this.ask(check, due, wait);
      while (answer.verdict !== "PASSED" && check.onFailure === "WAIT") {
        wait(checkError(check, answer).message, answer.text);
        answer = await this.ask(check, due, wait, answer.text);
      }
      return answer;
    } finally {
      for (const { resourceId } of due) this.state.closureChanged(resourceId, undefined);
      if (this.isWaiting) this.heldUntil = currentTime();
      this.isWaiting = false;
    }
  }

  /** One ask, with the later decision of a webhook. */
  private async ask(
    check: PlannedCheck,
    due: readonly ResourcePlan[],
    wait: (message: string, text: string) => void,
    known?: string,
  ): Promise<CheckAnswer> {
    const { id, name, bundle } = this.state.plan;
    const askId = uuid4();
    const resources = due.slice(0, mostTold).map(({ resourceId, name: its }) => ({ resourceId, name: its }));
    const { intervalSeconds, decideMinutes } = check;
    const summary = known === undefined ? `check ${check.id}` : `until check ${check.id} passes`;
    this.state.checkDecisions.expect(askId);
    const answer = await checks.askCheck.executeWithOptions({ ...checkOptions(), summary }, [
      {
        ...{ check: check.id, askId, at: "BEFORE_UPGRADE", intervalSeconds },
        upgrade: { id, name, bundleId: bundle.id, resources },
        ...(known !== undefined && { known }),
      },
    ]);
    if (answer.verdict !== "LATER") return answer;
    const said = answer.text === "" ? "" : `: ${answer.text}`;
    wait(`Check ${check.id} decides later${said}`, answer.text === "" ? "It decides later." : answer.text);
    const limit = `decision of check ${check.id} within ${decideMinutes} min`;
    const decision = await this.state.checkDecisions.untilDecided(decideMinutes * 60_000, limit);
    if (!decision) return { verdict: "UNANSWERED", text: `It did not decide within ${decideMinutes} minutes.` };
    return { verdict: decision.passed ? "PASSED" : "FAILED", text: checkText(decision.text ?? "") };
  }

  /** What it gives; undefined where the schedule, the scope or the approval of the upgrade changes first. */
  private unlessChanged<A>(body: () => Promise<A>): Promise<A | undefined> {
    const { changes } = this.state.times;
    return interruptible(body, () => this.state.times.changes !== changes);
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

  private changeStage(check: PlannedCheck, change: (stage: Stage) => Stage): void {
    if (!this.part) return;
    const i = this.checks.indexOf(check);
    const stages = (this.part.stages ?? []).map((stage, place) => (place === i ? change(stage) : stage));
    this.change({ ...this.part, stages });
  }
}
