import { log, metricMeter, proxyActivities, uuid4 } from "@temporalio/workflow";
import type { CheckInput, UpgradeActivities } from "../activities/contract";
import { askIdOf, type CheckAnswer, checkError, checkText, type PlannedCheck } from "../src/domain/checks/own-check";
import { checkOptions } from "./activity-options";
import type { CheckDecisions } from "./check-decisions";
import { currentTime } from "./clock";
import { interruptible } from "./interruptible";

const checks = proxyActivities<Pick<UpgradeActivities, "askCheck">>(checkOptions());

/** How long checks that have passed let something begin; what it then still has to wait for may take longer (milliseconds). */
export const checksValidFor = 10 * 60_000;

/** What a check is asked for, and how what it says is told. */
export interface CheckRound extends Pick<CheckInput, "at" | "upgrade"> {
  /** The resource that asks; undefined: the upgrade itself. */
  readonly asker?: string;
  readonly decisions: CheckDecisions;
  /** It is asked, and has said this last. */
  asked(check: PlannedCheck, text?: string): void;
  /** Something waits for it, for which the message is why; undefined: no more. */
  waits(message: string | undefined): void;
  /** Whether the question is another one now, so that no answer to this one is wanted. */
  isOther(): boolean;
}

/** The answer of a check. `isDecision`: that of a webhook, which came later and does not become old. */
type Answer = CheckAnswer & { readonly isDecision?: true };

/** The longest time between two asks of a webhook that decides later, and against (seconds). */
const longestBetweenDecisions = 3600;

/**
 * Asks checks one after another, and again those whose answer has become old while a later one was waited for. `settle`: does what
 * an answer asks for; false where nothing further is to be asked. Gives whether all were asked: not where the question has become
 * another one.
 */
export async function askAll(
  all: readonly PlannedCheck[],
  round: CheckRound,
  settle: (check: PlannedCheck, answer: CheckAnswer) => Promise<boolean>,
): Promise<boolean> {
  const answeredAt = new Map<string, number>();
  for (let left = all; left.length > 0;) {
    for (const check of left) {
      const answer = await askOwnCheck(check, round);
      if (answer === undefined || !(await settle(check, answer))) return false;
      const mayBecomeOld = answer.verdict === "PASSED" && answer.isDecision === undefined;
      answeredAt.set(check.id, mayBecomeOld ? currentTime() : Infinity);
    }
    left = all.filter(({ id }) => (answeredAt.get(id) ?? 0) + checksValidFor <= currentTime());
  }
  return true;
}

/** The answer of a check; of one that is waited for, once it passes. Undefined where the question becomes another one first. */
async function askOwnCheck(check: PlannedCheck, round: CheckRound): Promise<Answer | undefined> {
  const answer = await interruptible(
    () => answerOf(check, round),
    () => round.isOther(),
  );
  if (answer !== undefined && answer.verdict !== "PASSED")
    log.warn("A check of the inventory did not pass", { check: check.id, at: round.at, onFailure: check.onFailure });
  return answer;
}

async function answerOf(check: PlannedCheck, round: CheckRound): Promise<Answer> {
  round.asked(check);
  try {
    let answer = await ask(check, round);
    for (let told = 0; answer.verdict !== "PASSED" && check.onFailure === "WAIT"; told++) {
      round.asked(check, answer.text);
      round.waits(checkError(check, answer).message);
      // Each ask that ends makes the history longer, so they become rarer.
      const firstSeconds = Math.min(check.intervalSeconds * 2 ** told, longestBetweenDecisions);
      const later = answer.isDecision && firstSeconds > check.intervalSeconds ? { firstSeconds } : {};
      answer = await ask(check, round, { known: answer.text, told, ...later });
    }
    return answer;
  } finally {
    round.waits(undefined);
  }
}

/** One ask, counted by what became of it. */
async function ask(check: PlannedCheck, round: CheckRound, waited: Waited = {}): Promise<Answer> {
  const answer = await askOrAwaitDecision(check, round, waited);
  // In a replay the SDK drops what is counted.
  const labels = { kind: check.kind, at: round.at, outcome: answer.verdict.toLowerCase() };
  metricMeter.createCounter("ums_own_checks").add(1, labels);
  return answer;
}

/** What is known of a check that is waited for. */
type Waited = Pick<CheckInput, "known" | "told" | "firstSeconds">;

/** One ask, with the later decision of a webhook. */
async function askOrAwaitDecision(check: PlannedCheck, round: CheckRound, waited: Waited): Promise<Answer> {
  const { at, upgrade, decisions, asker } = round;
  const askId = askIdOf(asker, uuid4());
  const { id, intervalSeconds, decideMinutes } = check;
  const summary = waited.known === undefined ? `check ${id}` : `until check ${id} passes`;
  decisions.expect(askId);
  const answer = await checks.askCheck.executeWithOptions({ ...checkOptions(), summary }, [
    { ...{ check: id, askId, at, intervalSeconds, upgrade }, ...waited },
  ]);
  if (answer.verdict !== "LATER") return answer;
  round.asked(check, answer.text === "" ? "It decides later." : answer.text);
  round.waits(`Check ${id} decides later${answer.text === "" ? "" : `: ${answer.text}`}`);
  const limit = `decision of check ${id} within ${decideMinutes} min`;
  const decision = await decisions.untilDecided(decideMinutes * 60_000, limit);
  const none = `It did not decide within ${decideMinutes} minutes.`;
  if (!decision) return { verdict: "UNANSWERED", text: none, isDecision: true };
  return { verdict: decision.passed ? "PASSED" : "FAILED", text: checkText(decision.text ?? ""), isDecision: true };
}
