import { Context } from "@temporalio/activity";
import { ApplicationFailure, ApplicationFailureCategory } from "@temporalio/common";
import type { CheckDefinition } from "../../src/domain/checks/check-definition";
import { type CheckAnswer, checkText } from "../../src/domain/checks/own-check";
import { legible } from "../../src/domain/legible";
import type { CheckInput } from "../contract";
import { askAlertmanager, askPrometheus } from "./ask-monitoring";
import { askWebhook } from "./ask-webhook";

/** How often a check is asked that gives no verdict, before that counts. */
const tries = 3;

/** After so many asks of a check that is waited for, what it says now is told; next time after twice as many. */
const asksUntilTold = 10;

/**
 * Asks a check of the inventory, and tries again where there is no verdict. With `known` it goes on until the check passes; between
 * its tries it takes no place in a worker and no event in the history. `find`: how the check is asked, undefined where the
 * inventory of this worker does not have it.
 */
export async function askCheck(
  find: (id: string) => CheckDefinition | undefined,
  input: CheckInput,
): Promise<CheckAnswer> {
  const { info, cancellationSignal: signal } = Context.current();
  const { known, intervalSeconds, told = 0, firstSeconds = intervalSeconds } = input;
  // It was asked just before.
  if (known !== undefined && info.attempt === 1) throw again(known, firstSeconds);
  const definition = find(input.check);
  const raw: CheckAnswer = definition
    ? await ask(definition, input, { attempt: info.attempt, signal })
    : { verdict: "UNANSWERED", text: "It is not in the worker's inventory." };
  const answer = { ...raw, text: checkText(legible(raw.text)) };
  if (answer.verdict === "PASSED" || answer.verdict === "LATER") return answer;
  if (signal.aborted) throw again("The worker is stopping.", 1);
  if (known === undefined) {
    if (answer.verdict === "UNANSWERED" && info.attempt < tries) throw again(answer.text, 2);
    return answer;
  }
  if (answer.text === known || info.attempt < asksUntilTold * 2 ** told) throw again(answer.text, intervalSeconds);
  return answer;
}

function ask(
  definition: CheckDefinition,
  input: CheckInput,
  run: { readonly attempt: number; readonly signal: AbortSignal },
): Promise<CheckAnswer> {
  switch (definition.kind) {
    case "PROMETHEUS":
      return askPrometheus(definition, run.signal);
    case "ALERTMANAGER":
      return askAlertmanager(definition, run.signal);
    case "WEBHOOK":
      return askWebhook(definition, input, run);
  }
}

/** Has Temporal ask again after so many seconds. */
function again(text: string, seconds: number): ApplicationFailure {
  return ApplicationFailure.create({
    message: text.slice(0, 300),
    type: "CHECK_FAILED",
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: seconds * 1000,
  });
}
