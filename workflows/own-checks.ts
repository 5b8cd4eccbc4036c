import { log, metricMeter, proxyActivities, uuid4 } from "@temporalio/workflow";
import type { CheckInput, UpgradeActivities } from "../activities/contract";
import { type CheckAnswer, checkError, checkText, type PlannedCheck } from "../src/domain/checks/own-check";
import { checkOptions } from "./activity-options";
import type { CheckDecisions } from "./check-decisions";
import { interruptible } from "./interruptible";

const checks = proxyActivities<Pick<UpgradeActivities, "askCheck">>(checkOptions());

/** How long checks that have passed let something begin; what it then still has to wait for may take longer (milliseconds). */
export const checksValidFor = 10 * 60_000;

/** What a check is asked for, and how what it says is told. */
export interface CheckRound extends Pick<CheckInput, "at" | "upgrade"> {
  readonly decisions: CheckDecisions;
  /** It is asked, and has said this last. */
  asked(check: PlannedCheck, text?: string): void;
  /** Something waits for it, for which the message is why; undefined: no more. */
  waits(message: string | undefined): void;
  /** Whether the question is another one now, so that no answer to this one is wanted. */
  isOther(): boolean;
}

/** The answer of a check; of one that is waited for, once it passes. Undefined where the question becomes another one first. */
export async function askOwnCheck(check: PlannedCheck, round: CheckRound): Promise<CheckAnswer | undefined> {
  const answer = await interruptible(
    () => answerOf(check, round),
    () => round.isOther(),
  );
  if (answer !== undefined && answer.verdict !== "PASSED")
    log.warn("A check of the inventory did not pass", { check: check.id, at: round.at, onFailure: check.onFailure });
  return answer;
}

async function answerOf(check: PlannedCheck, round: CheckRound): Promise<CheckAnswer> {
  round.asked(check);
  try {
    let answer = await ask(check, round);
    while (answer.verdict !== "PASSED" && check.onFailure === "WAIT") {
      round.asked(check, answer.text);
      round.waits(checkError(check, answer).message);
      answer = await ask(check, round, answer.text);
    }
    return answer;
  } finally {
    round.waits(undefined);
  }
}

/** One ask, counted by what became of it. */
async function ask(check: PlannedCheck, round: CheckRound, known?: string): Promise<CheckAnswer> {
  const answer = await askOrAwaitDecision(check, round, known);
  // In a replay the SDK drops what is counted.
  const labels = { kind: check.kind, at: round.at, outcome: answer.verdict.toLowerCase() };
  metricMeter.createCounter("ums_own_checks").add(1, labels);
  return answer;
}

/** One ask, with the later decision of a webhook. */
async function askOrAwaitDecision(check: PlannedCheck, round: CheckRound, known?: string): Promise<CheckAnswer> {
  const askId = uuid4();
  const { at, upgrade, decisions } = round;
  const { id, intervalSeconds, decideMinutes } = check;
  const summary = known === undefined ? `check ${id}` : `until check ${id} passes`;
  decisions.expect(askId);
  const answer = await checks.askCheck.executeWithOptions({ ...checkOptions(), summary }, [
    { ...{ check: id, askId, at, intervalSeconds, upgrade }, ...(known !== undefined && { known }) },
  ]);
  if (answer.verdict !== "LATER") return answer;
  round.asked(check, answer.text === "" ? "It decides later." : answer.text);
  round.waits(`Check ${id} decides later${answer.text === "" ? "" : `: ${answer.text}`}`);
  const limit = `decision of check ${id} within ${decideMinutes} min`;
  const decision = await decisions.untilDecided(decideMinutes * 60_000, limit);
  if (!decision) return { verdict: "UNANSWERED", text: `It did not decide within ${decideMinutes} minutes.` };
  return { verdict: decision.passed ? "PASSED" : "FAILED", text: checkText(decision.text ?? "") };
}
