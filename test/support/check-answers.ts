import type { CheckInput } from "../../activities/contract";
import type { CheckAnswer } from "../../src/domain/checks/own-check";
import { FakeActivities, type ReplacedActivities } from "./fake-activities";

/** What checks of the inventory may answer. */
export const passed: CheckAnswer = { verdict: "PASSED", text: "None." };
export const failing: CheckAnswer = { verdict: "FAILED", text: "3 alerts active." };
export const later: CheckAnswer = { verdict: "LATER", text: "The board meets at 10." };

/** Activities whose checks answer with these in order, of which the last one stays; and what they were asked. */
export function answering(answers: readonly CheckAnswer[], replaced: ReplacedActivities = {}, hosts?: number) {
  const asked: CheckInput[] = [];
  const fake = new FakeActivities(
    {
      ...replaced,
      askCheck: (input) => {
        asked.push(input);
        return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1] ?? failing);
      },
    },
    hosts,
  );
  return { fake, asked };
}
